"""A photo and its parts as an SVG for a paper: each part is a shape that any editor changes."""

from __future__ import annotations

import base64
from xml.etree import ElementTree

import numpy as np

from partdino.images.sizes import resize_image
from partdino.runs.exports.polygons import outlines
from partdino.runs.review.apply import drawn_lookup, reviewed_parts
from partdino.runs.review.finished import IndexedRun
from partdino.runs.review.pictures import jpeg, sized_labels, whole_size
from partdino.runs.review.state import Review

_QUALITY = 92
_LINE = 1 / 400  # of the longest side


def figure_svg(run: IndexedRun, review: Review, index: int, opacity: float) -> bytes | None:
    """Return a photo with its parts as an SVG; None if it is gone; raises `PartDinoError`.

    Parameters
    ----------
    run, review, index
        Which photo, and how its parts are drawn.
    opacity
        Of the parts, in [0, 1].
    """
    size = whole_size(run, index)
    photo = run.photo(index, size[0] * size[1])
    if photo is None:
        return None
    height, width = map(str, size)
    place = {"width": width, "height": height}
    svg = ElementTree.Element("svg", place)
    svg.set("xmlns", "http://www.w3.org/2000/svg")
    svg.set("xmlns:xlink", "http://www.w3.org/1999/xlink")  # older programs know no plain href
    svg.set("viewBox", f"0 0 {width} {height}")
    picture = base64.b64encode(jpeg(resize_image(photo, size), _QUALITY)).decode("ascii")
    ElementTree.SubElement(
        svg, "image", {**place, "xlink:href": f"data:image/jpeg;base64,{picture}"}
    )
    style = {"fill-opacity": f"{opacity:.2f}", "fill-rule": "evenodd", "stroke": "#fff"}
    style |= {"stroke-width": f"{max(size) * _LINE:.2f}", "stroke-linejoin": "round"}
    parts = ElementTree.SubElement(svg, "g", style)
    labels = drawn_lookup(review, run.num_parts)[sized_labels(run, review, index, size)]
    for part in reviewed_parts(review, run.num_parts):
        if (mask := labels == part.part).any():
            path = ElementTree.SubElement(parts, "path", fill=part.colour, d=_path(mask))
            ElementTree.SubElement(path, "title").text = part.name
    return ElementTree.tostring(svg, encoding="utf-8", xml_declaration=True)


def _path(mask: np.ndarray) -> str:
    """The outlines of a part along the edges of its pixels: level and upright steps in turn.

    >>> _path(np.ones((1, 2), bool))
    'M0 0h2v1h-2z'
    """
    rings = []
    for ring, _ in outlines(mask):
        steps = np.diff(ring, axis=0)
        words = (f"h{x}" if x else f"v{y}" for x, y in steps.tolist())
        rings.append(f"M{ring[0, 0]} {ring[0, 1]}{''.join(words)}z")
    return "".join(rings)
