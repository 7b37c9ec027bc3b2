"""What a description says of each cell's colour and place."""

from __future__ import annotations

import numpy as np

from partdino.describe.colours import mean_colours
from partdino.describe.contrast import border_share
from partdino.method import Method


def test_colours_are_averaged_in_cielab():
    image = np.zeros((2, 4, 3), np.uint8)
    image[:, 2:] = [255, 0, 0]
    image[:, 3] = [0, 0, 255]
    colours = mean_colours(image, np.array([[0, 0, 1, 2], [0, 0, 1, 2]]))
    # sRGB red and blue under D65, as every table has them.
    np.testing.assert_allclose(
        colours, [[0, 0, 0], [53.2, 80.1, 67.2], [32.3, 79.2, -107.9]], atol=0.3
    )
    mixed = mean_colours(image, np.array([[0, 0, 1, 1], [0, 0, 1, 1]]))
    np.testing.assert_allclose(mixed[1], colours[1:].mean(axis=0), atol=0.1)


def test_the_share_at_the_border():
    cells = np.zeros((20, 20), int)
    cells[2:18, 2:18] = 1
    cells[10:, 2:18] = 2
    share = border_share(cells, Method(border=0.1))
    np.testing.assert_allclose(share, [1, 0, 32 / 160], atol=1e-3)
