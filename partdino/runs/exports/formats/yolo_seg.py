"""``labels/<stem>.txt`` and ``data.yaml`` for YOLO segmentation: polygons along pixel edges."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import yaml

from partdino.files import write_text
from partdino.runs.exports.exporter import Exporter
from partdino.runs.exports.finished import ExportImage
from partdino.runs.exports.polygons import part_polygons


class YoloSegExporter(Exporter):
    """Writes a line for each piece of a part: the format has one polygon an object."""

    help = "YOLO segmentation: text files and data.yaml"
    knows_by_stem = True

    @classmethod
    def file(cls, stem: str) -> str:
        """Where the polygons are."""
        return f"labels/{stem}.txt"

    def add(self, image: ExportImage) -> None:
        """Write one file; errors as of `Exporter.add`."""
        classes = {part.number: index for index, part in enumerate(self.target.parts)}
        lines = []
        for part in image.result.parts:
            rings = part_polygons(image.result, part)
            lines += yolo_lines(classes[part.part], rings, image.size)
        write_text(self.out / self.file(image.stem), "".join(lines))

    def close(self) -> None:
        """Write `data.yaml`; raises `OutputError`."""
        # Without `path`, folders are relative to the file itself.
        names = {index: part.name for index, part in enumerate(self.target.parts)}
        document = {"train": self.photo_folder, "val": self.photo_folder, "names": names}
        write_text(self.out / "data.yaml", yaml.safe_dump(document, sort_keys=False))


def yolo_lines(index: int, rings: Sequence[np.ndarray], size: tuple[int, int]) -> list[str]:
    """Return a line for each polygon: the class from 0, then x and y as shares of the photo.

    Parameters
    ----------
    index
        Of the class.
    rings
        int (N, 2), corners (x, y) in pixels.
    size
        (H, W) of the photo.

    Examples
    --------
    >>> yolo_lines(2, [np.array([[0, 0], [4, 0], [4, 1], [0, 1]])], (4, 8))
    ['2 0 0 0.5 0 0.5 0.25 0 0.25\\n']
    """
    height, width = size
    return [
        f"{index} {' '.join(f'{v:.7g}' for v in (ring / (width, height)).ravel())}\n"
        for ring in rings
    ]


EXPORTER = YoloSegExporter
