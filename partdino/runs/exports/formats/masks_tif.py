"""``masks/<stem>.tif``: TIFF whose values are the parts, with a palette of the parts' colours."""

from __future__ import annotations

from PIL import Image

from partdino.files import atomic_path
from partdino.runs.exports.exporter import Exporter
from partdino.runs.exports.finished import ExportImage, stem
from partdino.runs.writers.palette import part_colours


class MasksTifExporter(Exporter):
    """Writes label maps as values with a palette: 0 background, 1 to K the parts."""

    help = "TIFF with a palette, values are the parts"

    @classmethod
    def file(cls, name: str) -> str:
        """Where the mask is."""
        return f"masks/{stem(name)}.tif"

    def add(self, image: ExportImage) -> None:
        """Write one mask; errors as of `Exporter.add`."""
        indexed = Image.fromarray(image.label_map)
        indexed.putpalette(part_colours().tobytes())
        with atomic_path(self.out / self.file(image.name)) as temporary:
            # Deflate, which ImageJ and tifffile read without a codec of their own.
            indexed.save(temporary, "TIFF", compression="tiff_adobe_deflate")


EXPORTER = MasksTifExporter
