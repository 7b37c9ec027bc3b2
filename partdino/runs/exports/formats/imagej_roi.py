"""``rois/<stem>.zip`` for ImageJ's ROI Manager: parts as composite selections with holes."""

from __future__ import annotations

import struct
import zipfile

import numpy as np

from partdino.files import atomic_path
from partdino.runs.exports.exporter import Exporter
from partdino.runs.exports.finished import ExportImage, Part
from partdino.runs.exports.polygons import outlines

# Of ij.io.RoiDecoder: the header is 64 bytes, and so is the second, behind the coordinates.
_HEADER = 64
_VERSION, _RECTANGLE = 227, 1  # a composite selection calls itself a rectangle
_MOVE, _LINE, _CLOSE = 0, 1, 4  # of java.awt.geom.PathIterator


class ImagejRoiExporter(Exporter):
    """Writes an archive for each photo that has any part, with a selection for each of them."""

    help = "ImageJ: a zip of ROIs for each photo"

    @classmethod
    def file(cls, stem: str) -> str:
        """Where the selections are."""
        return f"rois/{stem}.zip"

    def add(self, image: ExportImage) -> None:
        """Write one archive; errors as of `Exporter.add`."""
        if not image.result.parts:
            return
        with (
            atomic_path(self.out / self.file(image.stem)) as temporary,
            zipfile.ZipFile(temporary, "w", zipfile.ZIP_DEFLATED) as archive,
        ):
            for part in image.result.parts:
                inside, corner = part.mask(image.result), part.box[:2]
                named = self.target.part(part.part).of(part.instance)
                archive.writestr(f"{named.file_name}.roi", encode_roi(inside, corner, named))


def encode_roi(mask: np.ndarray, corner: tuple[int, int], part: Part) -> bytes:
    """Encode an area as an ImageJ selection.

    Parameters
    ----------
    mask
        bool (H, W), the area.
    corner
        (x, y) of the mask's first pixel in the photo.
    part
        Its name and colour are those of the selection.

    Returns
    -------
    bytes
        A ``.roi`` file: outlines along the edges of pixels, holes where outlines are within others.
    """
    rings = [ring + corner for ring, _ in outlines(mask)]
    path = np.concatenate([_path(ring) for ring in rings]).astype(">f4")
    (left, top), (height, width) = corner, mask.shape
    box = (value & 0xFFFF for value in (top, left, top + height, left + width))
    colour = bytes((255, *part.colour))
    second = _HEADER + path.nbytes
    name = part.name.encode("utf-16-be")
    header = struct.pack(
        ">4shBx4HH16xhi4s16xi", b"Iout", _VERSION, _RECTANGLE, *box, 0, 0, len(path), colour, second
    )
    header2 = struct.pack(">16xii40x", second + _HEADER, len(part.name))
    return header + path.tobytes() + header2 + name


def _path(ring: np.ndarray) -> np.ndarray:
    """Return a ring (N, 2) as ImageJ's list of segments: kind, x, y, ..., kind of the end."""
    segments = np.empty((len(ring), 3))
    segments[:, 0], segments[:, 1:] = _LINE, ring
    segments[0, 0] = _MOVE
    return np.append(segments.ravel(), _CLOSE)


EXPORTER = ImagejRoiExporter
