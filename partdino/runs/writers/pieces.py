"""`review/<stem>.npz`: the regions and clusters that a review mends and divides photos by."""

from __future__ import annotations

import io
from pathlib import Path
from zipfile import BadZipFile

import numpy as np

from partdino.files import write_bytes
from partdino.output_marks import REVIEW_FOLDER
from partdino.parts.pieces import Pieces
from partdino.parts.result import PartSegmentation


class PiecesWriter:
    """Writes the `pieces` of results that have them.

    Parameters
    ----------
    out
        The run's output folder.
    """

    def __init__(self, out: Path) -> None:
        self._out = out

    def add(self, result: PartSegmentation, stem: str) -> None:
        """Write one image's pieces, if it has any; `stem` and errors as of `LabelWriter.add`."""
        if result.pieces is not None:
            stream = io.BytesIO()
            np.savez_compressed(stream, **vars(result.pieces))
            write_bytes(pieces_path(self._out, stem), stream.getvalue())


def pieces_path(out: Path, stem: str) -> Path:
    """Return where an image's pieces are in an output folder, there or not."""
    return out / REVIEW_FOLDER / f"{stem}.npz"


def read_pieces(out: Path, stem: str, num_clusters: int) -> Pieces | None:
    """Read what `PiecesWriter` wrote of an image.

    Parameters
    ----------
    out, stem
        The output folder, and what the image's files are called, before the suffix.
    num_clusters
        M, of the run's model.

    Returns
    -------
    Pieces or None
        None where there is none, or what is there is no such file.
    """
    try:
        with np.load(pieces_path(out, stem), allow_pickle=False) as arrays:
            pieces = Pieces(arrays["regions"], arrays["clusters"])
    except (OSError, EOFError, ValueError, KeyError, BadZipFile):
        return None
    both = (pieces.regions, pieces.clusters)
    if any(each.dtype != np.uint16 or each.ndim != 2 or not each.size for each in both):
        return None
    if pieces.regions.shape != pieces.clusters.shape or pieces.clusters.max() > num_clusters:
        return None
    return pieces
