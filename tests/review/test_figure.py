"""The figure of a photo as an SVG: a shape for each part, exactly along its pixels."""

from __future__ import annotations

import re
from pathlib import Path
from xml.etree import ElementTree

import cv2
import numpy as np
from review_runs import NAMES, SHA256, stripes, write_run

from partdino.runs.review import PartReview, Review
from partdino.runs.review.figure import figure_svg
from partdino.runs.review.finished import IndexedRun, open_run

SVG = "{http://www.w3.org/2000/svg}"


def drawn(path: str, size: tuple[int, int]) -> np.ndarray:
    """The pixels in a path of level and upright steps, by its winding (the even-odd rule)."""
    mask = np.zeros(size, np.uint8)
    for ring in path.split("z")[:-1]:
        x, y = map(int, re.match(r"M(\d+) (\d+)", ring).groups())
        for kind, step in re.findall(r"([hv])(-?\d+)", ring):
            if kind == "v":  # each upright edge turns all that is right of it
                top, bottom = sorted((y, y + int(step)))
                mask[top:bottom, x:] ^= 1
            x, y = x + int(step) * (kind == "h"), y + int(step) * (kind == "v")
        left = int(re.match(r"M(\d+)", ring)[1])
        start = int(re.match(r"M\d+ (\d+)", ring)[1])
        top, bottom = sorted((y, start))
        mask[top:bottom, left:] ^= 1  # the edge that closes it
    return mask.astype(bool)


def test_each_part_is_a_shape_of_its_pixels(run: IndexedRun):
    parts = {
        1: PartReview(name='<wing> & "tail"', colour="#123456"),
        2: PartReview(merged_into=1),
        3: PartReview(hidden=True),
    }
    svg = ElementTree.fromstring(figure_svg(run, Review(SHA256, parts=parts), 3, 0.25))
    assert svg.get("viewBox") == "0 0 90 60" and len(svg.findall(f"{SVG}image")) == 1
    first, second = svg.findall(f".//{SVG}path")
    assert first.find(f"{SVG}title").text == '<wing> & "tail"'
    assert (first.get("fill"), second.get("fill")) == ("#123456", "#f622b5")
    assert svg.find(f"{SVG}g").get("fill-opacity") == "0.25"
    labels = stripes(3, None)
    assert (drawn(first.get("d"), (60, 90)) == np.isin(labels, (1, 2))).all()
    assert (drawn(second.get("d"), (60, 90)) == (labels == 4)).all()


def test_holes_and_pieces_are_drawn(tmp_path: Path):
    disc = np.zeros((60, 90), np.uint8)
    cv2.circle(disc, (30, 30), 20, 1, -1)
    cv2.circle(disc, (30, 30), 8, 0, -1)
    disc[50:55, 80:85] = 1
    opened = open_run(write_run(tmp_path, NAMES[:2], lambda index: disc))
    svg = ElementTree.fromstring(figure_svg(opened, Review(SHA256), 0, 1.0))
    [path] = svg.findall(f".//{SVG}path")
    assert path.get("d").count("M") == 3 and (drawn(path.get("d"), (60, 90)) == (disc == 1)).all()


def test_a_photo_that_is_gone_has_no_figure(own_folder: Path):
    (own_folder.parent / "photos" / NAMES[0]).unlink()
    assert figure_svg(open_run(own_folder), Review(SHA256), 0, 1.0) is None
