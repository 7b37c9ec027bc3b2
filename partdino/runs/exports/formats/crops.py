"""``<part>/<stem>.png`` and ``object/<stem>.png``: parts cut out on transparent background.

Where objects are told apart, ``<part>/<object>/<stem>.png`` and ``object/<object>/<stem>.png``.
"""

from __future__ import annotations

import numpy as np
from PIL import Image

from partdino.files import atomic_path
from partdino.runs.exports.exporter import Exporter
from partdino.runs.exports.finished import ExportImage

_OBJECT = "object"


class CropsExporter(Exporter):
    """Writes each part, and the whole object, at the photo's resolution; absent ones not at all."""

    help = "parts and object cut out, transparent background"

    @classmethod
    def file(cls, stem: str) -> str:
        """Where the object is."""
        return f"{_OBJECT}/{stem}.png"

    def add(self, image: ExportImage) -> None:
        """Write the cut-outs of one image; errors as of `Exporter.add`."""
        if not image.label_map.any():
            return
        photo = image.read_photo()
        for number, label_map in image.objects_apart():
            masks = [(part.file_name, label_map == part.number) for part in self.target.parts]
            for folder, mask in (*masks, (_OBJECT, label_map > 0)):
                if mask.any():
                    path = self.out / folder / number / f"{image.stem}.png"
                    with atomic_path(path) as temporary:
                        cut = Image.fromarray(cut_out(photo, mask))
                        cut.save(temporary, "PNG", compress_level=3)


def cut_out(photo: np.ndarray, mask: np.ndarray) -> np.ndarray:
    """Cut an area out of a photo.

    Parameters
    ----------
    photo
        uint8 (H, W, 3), RGB.
    mask
        bool (H, W), True somewhere.

    Returns
    -------
    uint8 (h, w, 4), RGBA of the smallest box around the area; outside the area all is 0.
    """
    rows, columns = np.flatnonzero(mask.any(axis=1)), np.flatnonzero(mask.any(axis=0))
    box = slice(rows[0], rows[-1] + 1), slice(columns[0], columns[-1] + 1)
    inside = mask[box]
    cut = np.zeros((*inside.shape, 4), np.uint8)
    cut[inside, :3] = photo[box][inside]
    cut[inside, 3] = 255
    return cut


EXPORTER = CropsExporter
