"""``masks/<part>/<stem>.png``: a black and white mask for each part and photo.

Where objects are told apart, ``masks/<part>/<object>/<stem>.png``.
"""

from __future__ import annotations

import numpy as np
from PIL import Image

from partdino.files import atomic_path
from partdino.runs.exports.exporter import Exporter
from partdino.runs.exports.finished import ExportImage


class BinaryExporter(Exporter):
    """Writes a mask for every part, 255 inside; all black where the photo lacks the part."""

    help = "a black and white PNG for each part"

    @classmethod
    def file(cls, stem: str) -> str:
        """Where the mask is, in the folder of each part."""
        return f"{stem}.png"

    def add(self, image: ExportImage) -> None:
        """Write the masks of one image; errors as of `Exporter.add`."""
        for folder, label_map in image.objects_apart():
            for part in self.target.parts:
                path = self.out / "masks" / part.file_name / folder / self.file(image.stem)
                mask = binary_mask(label_map, part.number)
                with atomic_path(path) as temporary:
                    Image.fromarray(mask).save(temporary, "PNG")


def binary_mask(label_map: np.ndarray, number: int) -> np.ndarray:
    """Return uint8 (H, W), 255 where a label map (H, W) has a part's number, else 0."""
    return np.where(label_map == number, np.uint8(255), np.uint8(0))


EXPORTER = BinaryExporter
