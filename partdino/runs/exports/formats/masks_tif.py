"""``masks/<stem>.tif``: TIFF whose values are the parts, with a palette of the parts' colours."""

from __future__ import annotations

from partdino.runs.exports.exporter import Exporter
from partdino.runs.exports.finished import ExportImage
from partdino.runs.exports.pictures import write_indexed


class MasksTifExporter(Exporter):
    """Writes label maps as values with a palette: 0 background, 1 to K the parts."""

    help = "TIFF with a palette, values are the parts"

    @classmethod
    def file(cls, stem: str) -> str:
        """Where the mask is."""
        return f"masks/{stem}.tif"

    def add(self, image: ExportImage) -> None:
        """Write one mask; errors as of `Exporter.add`."""
        write_indexed(self.out / self.file(image.stem), image.label_map, self.target.palette)


EXPORTER = MasksTifExporter
