"""``SegmentationClass/<stem>.png``, lists and ``labelmap.txt``: Pascal VOC segmentation."""

from __future__ import annotations

from partdino.files import atomic_path, write_text
from partdino.runs.exports.exporter import Exporter, Target
from partdino.runs.exports.finished import ExportImage
from partdino.runs.exports.pictures import write_indexed
from partdino.runs.writers.spool import Spool

_LIST = "ImageSets/Segmentation/default.txt"


class VocExporter(Exporter):
    """Writes class masks with a palette: the value is the part, the colour that of overlays."""

    help = "Pascal VOC: class masks, list, label map"
    knows_by_stem = True
    photo_folder = "JPEGImages"

    def __init__(self, target: Target) -> None:
        super().__init__(target)
        self._stems = Spool(target.out)

    @classmethod
    def file(cls, stem: str) -> str:
        """Where the mask is."""
        return f"SegmentationClass/{stem}.png"

    def add(self, image: ExportImage) -> None:
        """Write one mask; errors as of `Exporter.add`."""
        write_indexed(self.out / self.file(image.stem), image.label_map, self.target.palette)
        self._stems.write(f"{image.stem}\n")

    def close(self) -> None:
        """Write the list and the label map; raises `OutputError`."""
        with atomic_path(self.out / _LIST) as temporary, temporary.open("wb") as stream:
            self._stems.move_to(stream)
        colours = [("background", (0, 0, 0)), *((p.file_name, p.colour) for p in self.target.parts)]
        lines = (f"{name}:{','.join(map(str, colour))}::\n" for name, colour in colours)
        write_text(self.out / "labelmap.txt", "# label:color_rgb:parts:actions\n" + "".join(lines))


EXPORTER = VocExporter
