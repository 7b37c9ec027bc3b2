"""The run lengths of Label Studio's brush: bits of the JavaScript package @thi.ng/rle-pack."""

from __future__ import annotations

import numpy as np

_CHANNELS = 4  # of the RGBA picture that is encoded, row by row
_LENGTH_BITS = (3, 4, 8, 16)  # the widths that a length can have; two bits say which
_VALUE_BITS = 8
_HEAD = f"{_VALUE_BITS - 1:05b}" + "".join(f"{bits - 1:04b}" for bits in _LENGTH_BITS)


def encode_brush(mask: np.ndarray) -> list[int]:
    """Encode an area as Label Studio's ``rle``.

    Parameters
    ----------
    mask
        bool (H, W).

    Returns
    -------
    list of int
        Bytes: 32 bits for the number of values (RGBA, 255 inside in every channel), the widths,
        then for each run a 1, which width its length has, the length less 1, and the value.

    Examples
    --------
    >>> encode_brush(np.ones((1, 2), bool))
    [0, 0, 0, 8, 57, 27, 252, 255, 224]
    """
    flat = mask.ravel()
    ends = np.append(np.flatnonzero(flat[1:] != flat[:-1]) + 1, len(flat))
    lengths, values = _split(np.diff(ends, prepend=0) * _CHANNELS, flat[ends - 1])
    which = np.searchsorted([1 << bits for bits in _LENGTH_BITS], lengths)
    width = np.array(_LENGTH_BITS)[which]
    code = ((4 | which) << width | (lengths - 1)) << _VALUE_BITS | values * 255
    bits = _to_bits(code, 1 + 2 + width + _VALUE_BITS)
    head = np.array(list(f"{flat.size * _CHANNELS:032b}{_HEAD}"), np.uint8)
    return np.packbits(np.concatenate([head, bits])).tolist()


def _split(lengths: np.ndarray, values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Cut runs that are longer than the widest length."""
    most = 1 << _LENGTH_BITS[-1]
    pieces = -(-lengths // most)
    cut = np.full(int(pieces.sum()), most)
    cut[np.cumsum(pieces) - 1] = lengths - (pieces - 1) * most
    return cut, np.repeat(values, pieces)


def _to_bits(code: np.ndarray, width: np.ndarray) -> np.ndarray:
    """Return the bits of numbers, as many of each as it is wide, one after another, uint8 (N,)."""
    places = width[:, None] - 1 - np.arange(width.max())
    return ((code[:, None] >> places.clip(0)) & 1)[places >= 0].astype(np.uint8)
