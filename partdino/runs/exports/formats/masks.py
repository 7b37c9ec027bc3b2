"""``masks/<stem>.png``: grey 8-bit PNG whose values are the parts, which every reader takes."""

from __future__ import annotations

from partdino.runs.exports.exporter import Exporter
from partdino.runs.exports.finished import ExportImage
from partdino.runs.writers.labels import write_label_map


class MasksExporter(Exporter):
    """Writes label maps as grey values: 0 background, 1 to K the parts."""

    help = "grey PNG, values are the parts"

    @classmethod
    def file(cls, stem: str) -> str:
        """Where the mask is."""
        return f"masks/{stem}.png"

    def add(self, image: ExportImage) -> None:
        """Write one mask; errors as of `Exporter.add`."""
        write_label_map(self.out / self.file(image.stem), image.label_map)


EXPORTER = MasksExporter
