"""How the contact sheet is laid out: title, legend, images in rows, examples of every part.

Each block is drawn as a picture as wide as the sheet's content; the sheet stacks them.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from textwrap import wrap

import numpy as np
from PIL import Image, ImageDraw, ImageFont

from partdino.images.sizes import resize_image
from partdino.parts.naming import Naming
from partdino.runs.writers.drawing import draw_parts
from partdino.runs.writers.palette import colours_of

IMAGE_HEIGHT, IMAGE_WIDTH = 320, 960  # the largest an image is drawn
EXAMPLES, TILE = 8, 198  # examples of a part and their side

_CONTENT = 1904
_MARGIN = 48
_GAP = 12
_FEW, _HEIGHT_OF_FEW, _HEIGHT_OF_MANY = 12, 288, 216
_ASPECTS = 0.6, IMAGE_WIDTH / IMAGE_HEIGHT  # of an image's cell: room for its caption, for others
_CHIP_WIDTH, _NAMED_CHIP_WIDTH = 140, 315

_INK, _FAINT, _PAPER, _PANEL = (28, 30, 33), (110, 115, 122), (255, 255, 255), (238, 240, 242)
_TITLE, _HEADING, _TEXT, _SMALL = 44, 30, 22, 16  # font sizes


@dataclass(frozen=True)
class Thumbnail:
    """One image: its caption, uint8 photo (h, w, 3) and label map (h, w)."""

    name: str
    photo: np.ndarray
    labels: np.ndarray


@dataclass(frozen=True)
class PartRow:
    """One part: where it was found and its best examples, uint8 (h, w, 3) up to ``TILE``."""

    part: int
    num_images: int
    area_fraction: float
    examples: list[np.ndarray]


@dataclass(frozen=True)
class _Looks:
    """The name of each part, and uint8 (256, 3) colours by label."""

    names: list[str]
    colours: np.ndarray
    chip_width: int

    @classmethod
    def of(cls, num_parts: int, naming: Naming | None) -> _Looks:
        colours = colours_of(naming)
        if naming is None:
            names = [_part_name(part, num_parts) for part in range(1, num_parts + 1)]
            return cls(names, colours, _CHIP_WIDTH)
        return cls([_drawable(name) for name in naming.names], colours, _NAMED_CHIP_WIDTH)


def draw(
    thumbnails: list[Thumbnail],
    num_images: int,
    num_parts: int,
    rows: list[PartRow],
    notes: Sequence[str] = (),
    naming: Naming | None = None,
) -> Image.Image:
    """Return the contact sheet.

    Parameters
    ----------
    thumbnails
        The images to show.
    num_images
        How many there are in all.
    num_parts
        K: the legend shows them all.
    rows
        The parts of which examples are shown.
    notes
        Sentences on how the parts were made, for the foot of the sheet.
    naming
        What the parts are called, None: by their numbers.
    """
    looks = _Looks.of(num_parts, naming)
    blocks = [
        _title(len(thumbnails), num_images, num_parts),
        _legend(looks),
        *_gallery(thumbnails, looks),
    ]
    if rows:
        blocks.append(_examples_heading(len(rows), num_parts))
        blocks.extend(_part_row(row, num_images, looks) for row in rows)
    if notes:
        blocks.append(_foot(" ".join(notes)))
    return _stack(blocks)


def fit(size: tuple[int, int], limit: tuple[int, int]) -> tuple[int, int]:
    """Return the largest (h, w) of the same aspect within a limit, at least one pixel."""
    scale = min(limit[0] / size[0], limit[1] / size[1])
    return max(1, round(size[0] * scale)), max(1, round(size[1] * scale))


def _title(num_shown: int, num_images: int, num_parts: int) -> Image.Image:
    block, pen = _block(112)
    _write(pen, (0, 24), f"{counted(num_parts, 'part')} in {counted(num_images, 'image')}", _TITLE)
    if num_shown < num_images:
        _write(pen, (0, 70), f"{num_shown} images shown, evenly spread", _TEXT, _FAINT)
    return block


def _legend(looks: _Looks) -> Image.Image:
    width, height = looks.chip_width, 38
    columns = _CONTENT // width
    block, pen = _block(-(-len(looks.names) // columns) * height + 20)
    for index, name in enumerate(looks.names):
        x, y = index % columns * width, index // columns * height
        _chip(pen, (x, y), 26, looks.colours[index + 1])
        _write(pen, (x + 36, y + 13), _shortened(name, _TEXT, width - 36), _TEXT)
    return block


def _gallery(thumbnails: list[Thumbnail], looks: _Looks) -> list[Image.Image]:
    """Rows of images of one height each, which fill the width."""
    aspects = np.array([_aspect(thumbnail) for thumbnail in thumbnails])
    usual_height = _HEIGHT_OF_FEW if len(thumbnails) <= _FEW else _HEIGHT_OF_MANY
    num_rows = max(1, round(aspects.sum() * usual_height / _CONTENT))
    middles = (np.cumsum(aspects) - aspects / 2) / aspects.sum()
    row_of = (middles * num_rows).astype(int)
    return [
        _image_row([thumbnails[index] for index in np.flatnonzero(row_of == row)], looks)
        for row in range(num_rows)
    ]


def _image_row(row: list[Thumbnail], looks: _Looks) -> Image.Image:
    gaps = _GAP * (len(row) - 1)
    exact_height = min(IMAGE_HEIGHT, (_CONTENT - gaps) / sum(map(_aspect, row)))
    height = round(exact_height)
    block, pen = _block(height + 36)
    x = 0.0
    for thumbnail in row:
        left, right = round(x), round(x + exact_height * _aspect(thumbnail))
        width = right - left
        pen.rectangle((left, 0, right - 1, height - 1), fill=_PANEL)
        photo = resize_image(thumbnail.photo, fit(thumbnail.photo.shape[:2], (height, width)))
        _paste(block, draw_parts(photo, thumbnail.labels, looks.colours), (left, 0, width, height))
        caption = _elide(_drawable(thumbnail.name), _SMALL, width)
        _write(pen, (left, height + 14), caption, _SMALL, _FAINT)
        x += exact_height * _aspect(thumbnail) + _GAP
    return block


def _examples_heading(num_shown: int, num_parts: int) -> Image.Image:
    block, pen = _block(112)
    pen.line((0, 18, _CONTENT, 18), fill=_PANEL, width=2)
    _write(pen, (0, 66), "The most typical examples of every part", _HEADING)
    if num_shown < num_parts:
        _write(pen, (_CONTENT, 66), f"{num_shown} of {num_parts} parts shown", _TEXT, _FAINT, "rm")
    return block


def _part_row(row: PartRow, num_images: int, looks: _Looks) -> Image.Image:
    block, pen = _block(TILE + _GAP)
    middle, text_x = TILE // 2, 64
    left = _CONTENT - EXAMPLES * TILE - (EXAMPLES - 1) * _GAP
    _chip(pen, (0, middle - 44), 48, looks.colours[row.part])
    name, width = looks.names[row.part - 1], left - text_x - _GAP
    sizes = (_TEXT + 4, _TEXT, _SMALL)
    size = next((size for size in sizes if _font(size).getlength(name) <= width), _SMALL)
    _write(pen, (text_x, middle - 20), _shortened(name, size, width), size)
    _write(
        pen,
        (text_x, middle + 20),
        f"in {row.num_images:,} of {num_images:,} images",
        _SMALL,
        _FAINT,
    )
    _write(pen, (text_x, middle + 42), f"{row.area_fraction:.1%} of all pixels", _SMALL, _FAINT)
    x = left
    for example in row.examples:
        pen.rectangle((x, 0, x + TILE - 1, TILE - 1), fill=_PANEL)
        _paste(block, example, (x, 0, TILE, TILE))
        x += TILE + _GAP
    return block


def _foot(text: str) -> Image.Image:
    lines = wrap(_drawable(text), round(_CONTENT / _font(_SMALL).getlength("n")))
    block, pen = _block(34 + 22 * len(lines))
    for index, line in enumerate(lines):
        _write(pen, (0, 34 + 22 * index), line, _SMALL, _FAINT)
    return block


def _stack(blocks: list[Image.Image]) -> Image.Image:
    height = sum(block.height for block in blocks)
    page = Image.new("RGB", (_CONTENT + 2 * _MARGIN, height + 2 * _MARGIN), _PAPER)
    y = _MARGIN
    for block in blocks:
        page.paste(block, (_MARGIN, y))
        y += block.height
    return page


def _block(height: int) -> tuple[Image.Image, ImageDraw.ImageDraw]:
    block = Image.new("RGB", (_CONTENT, height), _PAPER)
    return block, ImageDraw.Draw(block)


def _paste(block: Image.Image, photo: np.ndarray, cell: tuple[int, int, int, int]) -> None:
    x, y, width, height = cell
    left, top = x + (width - photo.shape[1]) // 2, y + (height - photo.shape[0]) // 2
    block.paste(Image.fromarray(photo), (left, top))


def _chip(pen: ImageDraw.ImageDraw, corner: tuple[int, int], side: int, colour: np.ndarray) -> None:
    x, y = corner
    box = (x, y, x + side - 1, y + side - 1)
    pen.rounded_rectangle(box, radius=side // 5, fill=tuple(colour.tolist()))


def _write(
    pen: ImageDraw.ImageDraw,
    at: tuple[int, int],
    text: str,
    size: int,
    colour: tuple[int, int, int] = _INK,
    anchor: str = "lm",
) -> None:
    pen.text(at, text, font=_font(size), fill=colour, anchor=anchor)


def _elide(text: str, size: int, width: int) -> str:
    """The end of a text that fits a width: file names differ there, and share folders before."""
    shown = text
    while _font(size).getlength(shown) > width and len(shown) > 2:
        text = text[1:]
        shown = "…" + text
    return shown


def _shortened(name: str, size: int, width: int) -> str:
    """The beginning of a part's name that fits a width."""
    shown = name
    while _font(size).getlength(shown) > width and len(shown) > 2:
        name = name[:-1]
        shown = name + "…"
    return shown


def _drawable(name: str) -> str:
    """A name in the letters that Pillow's own font has: without accents, else a question mark."""
    plain = unicodedata.normalize("NFKD", name)
    letters = (letter for letter in plain if not unicodedata.combining(letter))
    return "".join(letter if " " <= letter <= "~" else "?" for letter in letters)


def _aspect(thumbnail: Thumbnail) -> float:
    height, width = thumbnail.photo.shape[:2]
    return min(max(width / height, _ASPECTS[0]), _ASPECTS[1])


def _part_name(part: int, num_parts: int) -> str:
    return f"part {part:0{max(2, len(str(num_parts)))}d}"


def counted(number: int, noun: str) -> str:
    """Return a number and what is counted.

    >>> counted(1, "part"), counted(1200, "image")
    ('1 part', '1,200 images')
    """
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


@lru_cache(maxsize=8)
def _font(size: int) -> ImageFont.FreeTypeFont | ImageFont.ImageFont:
    return ImageFont.load_default(size)  # Pillow's own: system fonts differ and may be absent
