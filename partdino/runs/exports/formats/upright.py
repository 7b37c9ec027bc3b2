"""``<name>``: copies of the photos, turned as their EXIF orientation says."""

from __future__ import annotations

from partdino.runs.exports.exporter import Exporter
from partdino.runs.exports.finished import ExportImage


class UprightExporter(Exporter):
    """Writes the photos alone; see `partdino.runs.exports.photos`."""

    help = "the photos, turned as EXIF says"
    photo_folder = ""
    needs_photos = True

    def add(self, image: ExportImage) -> None:
        """Do nothing: the photo has been copied."""


EXPORTER = UprightExporter
