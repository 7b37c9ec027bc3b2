"""`review.json`: what a person says of the parts and photos of a run, and how it changes.

::

    {
      "format": "partdino review", "schema": 1,
      "revision": 12,                      counts the changes
      "model_sha256": "71a7...",           of the parts that are reviewed
      "parts": {"1": {"name": "wing", "colour": "#ff9200"},
                "5": {"merged_into": 1},
                "3": {"background": true},
                "4": {"hidden": true}},
      "photos": {"a/bird.jpg": "fine", "b.jpg": "wrong", "c.jpg": "excluded"},
      "splits": {"7": {"of": 2, "clusters": [14, 15, 19]}},
      "mended": {"b.jpg": {"pieces": "09c3...", "size": [448, 448], "given": {"0": [5210, 31]}}}
    }

What is not said is not there: a part without an entry is as the run left it, a photo without one
was not checked. Parts that were cut off others have numbers above K.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any, Literal, get_args

import numpy as np

from partdino.errors import ReviewError
from partdino.files import write_text
from partdino.output_marks import REVIEW_FILE
from partdino.runs.folder import read_run
from partdino.runs.review.mend import Mend
from partdino.runs.review.split import Split

MAX_NAME = 200  # characters of a part's name
Verdict = Literal["fine", "wrong", "excluded"]

_MOST_PARTS = 255  # of a label map
_FORMAT = "partdino review"
_SCHEMA = 1
_COLOUR = re.compile(r"#[0-9a-f]{6}")
_VERDICTS = get_args(Verdict)


@dataclass(frozen=True)
class PartReview:
    """What is said of one part.

    Attributes
    ----------
    name
        What the part is, 1 to `MAX_NAME` printable characters; None: "part 3".
    colour
        ``#rrggbb``; None: that of `partdino.runs.writers.palette`.
    merged_into
        The part that this one is a piece of; its name, colour and fate are that one's.
    background
        The part is no part of the object.
    hidden
        The part is not drawn; it keeps its place in label maps and tables.
    """

    name: str | None = None
    colour: str | None = None
    merged_into: int | None = None
    background: bool = False
    hidden: bool = False


@dataclass(frozen=True)
class Review:
    """What is said of a run.

    Attributes
    ----------
    model_sha256
        Of the model whose parts are reviewed.
    revision
        How many changes have been made: who changes it says which one was seen.
    parts
        By part number, 1 to K.
    photos
        What was said of a photo, by its name.
    splits
        The parts that were cut off others, by their numbers, above K.
    mended
        What was given other parts by hand, by the photo's name.
    """

    model_sha256: str
    revision: int = 0
    parts: Mapping[int, PartReview] = field(default_factory=dict)
    photos: Mapping[str, Verdict] = field(default_factory=dict)
    splits: Mapping[int, Split] = field(default_factory=dict)
    mended: Mapping[str, Mend] = field(default_factory=dict)

    def numbers(self, num_parts: int) -> list[int]:
        """Return the numbers of all parts, ascending: 1 to K, and those that were cut off."""
        return [*range(1, num_parts + 1), *sorted(self.splits)]

    def part_of_clusters(self, parts: np.ndarray) -> np.ndarray:
        """Return the part of each of the model's small clusters after all splits.

        Parameters
        ----------
        parts
            int (M,): the part, 1..K, of each before.

        Raises
        ------
        ReviewError
            A split is of a cluster that there is not.
        """
        parts = parts.copy()
        for number, split in sorted(self.splits.items()):
            if split.clusters[-1] >= len(parts) or split.clusters[0] < 0:
                raise ReviewError(f"{REVIEW_FILE}: part {number} has clusters that the model lacks")
            parts[list(split.clusters)] = number
        return parts

    @property
    def says_anything(self) -> bool:
        """Whether anything at all is said."""
        return bool(self.parts or self.photos or self.splits or self.mended)

    def root(self, part: int) -> int:
        """Return the part that a part is merged into in the end: itself where it is not."""
        while (target := self.parts.get(part, _NOTHING).merged_into) is not None:
            part = target
        return part

    def document(self) -> dict[str, Any]:
        """Return what `review.json` holds."""
        return {
            "format": _FORMAT,
            "schema": _SCHEMA,
            "revision": self.revision,
            "model_sha256": self.model_sha256,
            "parts": {str(part): _said(self.parts[part]) for part in sorted(self.parts)},
            "photos": dict(sorted(self.photos.items())),
            **_documents("splits", self.splits),
            **_documents("mended", self.mended),
        }


_NOTHING = PartReview()


def read_review(folder: Path, model_sha256: str, num_parts: int) -> Review:
    """Read the review of an output folder.

    Where there is none yet, nothing is said but what a model made by `partdino apply` calls its
    parts.

    Parameters
    ----------
    folder
        The output folder.
    model_sha256
        Of the model that the folder's label maps were made with.
    num_parts
        K.

    Raises
    ------
    ReviewError
        The file is damaged, of a newer version, or of other parts than those in the folder.
    """
    path = folder / REVIEW_FILE
    if not path.exists():
        return Review(model_sha256, parts=_named(folder, num_parts))
    try:
        document = json.loads(path.read_bytes())
        if (document["format"], document["schema"]) != (_FORMAT, _SCHEMA):
            raise ReviewError(f"{path} is of another version of Part-DINO; use that one")
        if document["model_sha256"] != model_sha256:
            raise ReviewError(
                f"{path} is of other parts than those in {folder}; move it away to begin anew"
            )
        parts = {int(number): _part(said) for number, said in document["parts"].items()}
        splits = {int(n): Split.from_json(s) for n, s in document.get("splits", {}).items()}
        mended = {name: Mend.of(said) for name, said in document.get("mended", {}).items()}
        said = (document["revision"], parts, document["photos"], splits, mended)
        review = Review(model_sha256, *said)
        _check(review, num_parts)
        if not isinstance(review.revision, int) or review.revision < 0:
            raise ValueError("revision")
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise ReviewError(f"{path} is damaged; move it away to begin anew") from error
    return review


def _named(folder: Path, num_parts: int) -> dict[int, PartReview]:
    """Return what the parts are called by the model of a run."""
    try:
        named = read_run(folder)["parts"]["named"]
        return {part: _part(named[str(part)]) for part in range(1, num_parts + 1)}
    except (KeyError, TypeError, ValueError):
        return {}


def write_review(folder: Path, review: Review) -> None:
    """Write `review.json`, atomically; raises `OutputError`.

    As indented JSON, but a photo that was mended has one line: it has hundreds of numbers, and all
    of the file is written at each change.
    """
    document = review.document()
    mended = {name: json.dumps(said) for name, said in document.pop("mended", {}).items()}
    text = json.dumps(document, indent=2, ensure_ascii=False)
    if mended:
        lines = (f"    {json.dumps(name, ensure_ascii=False)}: {mended[name]}" for name in mended)
        text = f'{text[:-2]},\n  "mended": {{\n' + ",\n".join(lines) + "\n  }\n}"
    write_text(folder / REVIEW_FILE, text + "\n")


def changed(
    review: Review,
    changes: Sequence[Mapping[str, Any]],
    num_parts: int,
    images: Collection[str],
) -> Review:
    """Return the next revision of a review.

    Parameters
    ----------
    review
        The review as it is.
    changes
        Each says all of one part, ``{"part": 3, "said": {"name": "wing"}}``, of one photo,
        ``{"photo": "bird.jpg", "said": "fine"}``, of what was cut off, ``{"split": 7, "said":
        {"of": 2, "clusters": [14]}}``, or was given other parts in a photo, ``{"mended":
        "bird.jpg", "said": {...}}``; None says nothing any more. The inverse of a change is one,
        too: what was said before.
    num_parts
        K.
    images
        The names of the run's photos.

    Raises
    ------
    ReviewError
        A change is none, or the whole makes no sense; then none of it is made.
    """
    said: dict[str, Any] = {kind: dict(getattr(review, kind)) for kind in _KINDS.values()}
    for change in changes:
        try:
            _say(said, change, num_parts, images)
        except (KeyError, TypeError, AttributeError) as error:
            raise ReviewError("that is no change of a part or a photo") from error
        except ValueError as error:
            raise ReviewError(str(error)) from error
    following = replace(review, revision=review.revision + 1, **said)
    try:
        _check(following, num_parts)
    except ValueError as error:
        raise ReviewError(str(error)) from error
    return following


# What a change names, and where that is kept.
_KINDS = {"part": "parts", "photo": "photos", "split": "splits", "mended": "mended"}


def _say(
    kept: Mapping[str, dict], change: Mapping[str, Any], num_parts: int, images: Collection[str]
) -> None:
    """Make one change of what is said; raises `ValueError`, `KeyError` and the like."""
    kind = next(kind for kind in (*_KINDS, "nothing") if kind in change or kind == "nothing")
    about, said = change[kind], change["said"]
    if kind in ("part", "split"):
        if type(about) is not int or not 1 <= about <= _MOST_PARTS:
            raise ValueError(f"a part is a number from 1 to {_MOST_PARTS}")
        if kind == "part" and about > num_parts and about not in kept["splits"]:
            raise ValueError(f"there is no part {about}")
    elif about not in images:
        raise ValueError("there is no such photo")
    entries = kept[_KINDS[kind]]
    if said is None or (kind == "part" and not said):
        entries.pop(about, None)
    elif kind == "photo":
        entries[about] = said
    else:
        entries[about] = {"part": _part, "split": Split.from_json, "mended": Mend.of}[kind](said)
    if entries.get(about) == _NOTHING:
        del entries[about]


def _documents(kind: str, entries: Mapping[Any, Split | Mend]) -> dict[str, Any]:
    """Return what `review.json` holds of splits or mends: nothing where there are none."""
    said = {str(about): entries[about].document() for about in sorted(entries)}
    return {kind: said} if said else {}


def _said(part: PartReview) -> dict[str, Any]:
    return {name: value for name, value in vars(part).items() if value not in (None, False)}


def _part(said: Mapping[str, Any]) -> PartReview:
    """Make a part's entry of JSON; raises `ValueError`."""
    unknown = set(said) - {each.name for each in fields(PartReview)}
    if unknown:
        raise ValueError(f"a part has no {min(unknown)}")
    part = PartReview(**said)
    if part.name is not None:
        part = replace(part, name=_clean_name(part.name))
    if part.colour is not None and not (
        isinstance(part.colour, str) and _COLOUR.fullmatch(part.colour)
    ):
        raise ValueError("a colour is #rrggbb")
    if type(part.background) is not bool or type(part.hidden) is not bool:
        raise ValueError("background and hidden are true or false")
    if part.merged_into is not None and type(part.merged_into) is not int:
        raise ValueError("a part is merged into the number of another one")
    return part


def _clean_name(name: object) -> str | None:
    """One line of printable text, without white space around it; None where nothing is left."""
    if not isinstance(name, str):
        raise ValueError("a name is text")
    # Not what turns the direction of writing either: it would turn the text around the name.
    kept = "".join(c for c in name if c.isprintable() and unicodedata.category(c) != "Cf")
    kept = " ".join(kept.split())
    if len(kept) > MAX_NAME:
        raise ValueError(f"a name has at most {MAX_NAME} characters")
    return kept or None


def _check(review: Review, num_parts: int) -> None:
    """Raise `ValueError` where a review as a whole makes no sense."""
    numbers = {*review.numbers(num_parts)}
    for number, split in review.splits.items():
        if not num_parts < number <= _MOST_PARTS:
            raise ValueError(
                f"parts that are cut off are numbered {num_parts + 1} to {_MOST_PARTS}"
            )
        _check_part(split.of, numbers - {number})
    for mend in review.mended.values():
        for number in mend.given:
            _check_part(number, {0, *numbers})
    for number, part in review.parts.items():
        for each in (number, part.merged_into):
            _check_part(number if each is None else each, numbers)
        seen = {number}
        while (target := review.parts.get(number, _NOTHING).merged_into) is not None:
            if target in seen:
                raise ValueError("parts cannot be merged into each other in a circle")
            seen.add(target)
            number = target
    for name, verdict in review.photos.items():
        if not isinstance(name, str) or verdict not in _VERDICTS:
            raise ValueError(f"a photo is {', '.join(_VERDICTS)}, or not checked")


def _check_part(number: int, numbers: Collection[int]) -> None:
    if number not in numbers:
        known = ", ".join(map(str, sorted(numbers)))
        raise ValueError(f"there is no part {number}, only {known}: something else refers to it")
