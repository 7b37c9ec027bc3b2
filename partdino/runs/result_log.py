"""`results.jsonl`: one line an image, as soon as its own files are written.

It holds what the label maps do not say (confidence and typicality of the parts), which is all that
it takes to make the files that cover a whole run: after a run was killed, and of several shards.
"""

from __future__ import annotations

import hashlib
import json
import os
from array import array
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from operator import attrgetter
from pathlib import Path
from typing import Any

import numpy as np

from partdino.describe.identity import is_replaced
from partdino.errors import OutputError
from partdino.files import file_sha256, is_safe_name
from partdino.images.decode import TooLargeError, open_image
from partdino.long_lists import LongList
from partdino.parts.result import PartSegmentation
from partdino.runs.shard import WHOLE, Shard
from partdino.runs.store import StoredImage

RESULTS_FILE = "results.jsonl"
_FORMAT = "partdino results"
_SCHEMA = 1
_LINES = 64  # whose beginning is remembered together


def results_head(
    images: Iterable[tuple[str, str | None]], model_file: Path, shard: Shard
) -> dict[str, Any]:
    """Return the first line: what all results of a run depend on, and which of them are here.

    Parameters
    ----------
    images
        Key and failure of each image of all shards.
    model_file, shard
        Of the run.
    """
    keys, count = hashlib.sha256(), 0
    for key, failure in images:
        count += 1
        # What failed once may have been described since.
        keys.update(f"{key} {failure or ''}\n".encode())
    return {
        "format": _FORMAT,
        "schema": _SCHEMA,
        "model_sha256": file_sha256(model_file),
        "images": count,
        "images_sha256": keys.hexdigest(),
        "shard": str(shard),
    }


@dataclass(frozen=True)
class Recorded:
    """An image's line.

    Attributes
    ----------
    name, photo
        The image's name, and the path or URL of its photo.
    key
        The version of the photo and of its mask, see `partdino.describe.identity.image_key`; None
        in lists of version 0.1.
    failure
        Why it has no result, or None.
    photo_found
        Whether the photo could be read for the overlay.
    confidence, typicality, foreground_found, foreground_confidence, object_pieces
        As `PartSegmentation`; None after a failure.
    file
        What its files are called, before the suffix, see `partdino.runs.image_names`; None in lists
        of before 0.2: its name.
    objects
        How many it shows; None where objects are not told apart.
    """

    name: str
    photo: str
    key: str | None = None
    failure: str | None = None
    photo_found: bool = True
    confidence: list[float] | None = None
    typicality: list[float] | None = None
    foreground_found: bool | None = None
    foreground_confidence: float | None = None
    object_pieces: int | None = None
    file: str | None = None
    objects: int | None = None

    @classmethod
    def of(
        cls,
        result: PartSegmentation,
        image: StoredImage,
        photo_found: bool,
        file: str | None = None,
    ) -> Recorded:
        """Record a result."""
        return cls(
            name=result.name,
            photo=str(image.photo),
            key=image.key,
            photo_found=photo_found,
            confidence=result.confidence.tolist(),
            typicality=result.typicality.tolist(),
            foreground_found=result.foreground_found,
            foreground_confidence=result.foreground_confidence,
            object_pieces=result.object_pieces,
            file=file,
            objects=result.objects,
        )

    def document(self) -> dict[str, Any]:
        """Return what the line holds."""
        return {name: value for name, value in vars(self).items() if value is not None}

    @property
    def stem(self) -> str:
        """What its files are called, before the suffix."""
        return self.name if self.file is None else self.file

    @property
    def odd(self) -> tuple[str, bool, bool]:
        """What `RunLog.note_odd` takes."""
        return self.name, bool(self.foreground_found), self.photo_found

    def is_replaced(self) -> bool:
        """Tell whether the photo is another one now than the one that was labelled."""
        return is_replaced(self.name, self.key, self.photo)

    def check(self) -> None:
        """Raise `ValueError` where a field is of the wrong kind, or a name leads elsewhere."""
        if not is_safe_name(self.name):
            raise ValueError(f"{self.name!r} is no name of an image")
        if not is_safe_name(self.stem):
            raise ValueError(f"{self.file!r} is no name of a file")
        if not isinstance(self.photo, str) or not isinstance(self.photo_found, bool):
            raise ValueError("photo")
        if not all(isinstance(text, str | None) for text in (self.failure, self.key)):
            raise ValueError("failure")
        for values in (self.confidence, self.typicality):
            numbers = values if self.failure is None else []
            if not isinstance(numbers, list) or not all(
                isinstance(n, float | int) and 0 <= n <= 1 for n in numbers
            ):
                raise ValueError("confidence")
        sure = self.foreground_confidence
        if not (sure is None or (isinstance(sure, float | int) and 0 <= sure <= 1)):
            raise ValueError("foreground_confidence")
        if self.failure is None and len(self.confidence or ()) != len(self.typicality or ()):
            raise ValueError("typicality")
        for count in (self.objects, self.object_pieces):
            if not (count is None or (type(count) is int and count >= 0)):
                raise ValueError("objects")

    def recall(self, out: Path) -> PartSegmentation:
        """Return the result, with the label map as it was written to an output folder.

        Raises
        ------
        OutputError
            The label map is missing or damaged, or none of these parts.
        """
        try:
            with open_image(out / "labels" / f"{self.stem}.png") as labels:
                label_map = np.asarray(labels)
        except (OSError, SyntaxError, TooLargeError) as error:  # Pillow raises the first two
            raise OutputError(f"{self.stem}.png cannot be read ({error})") from error
        confidence, typicality = self.confidence or [], self.typicality or []
        plain = label_map.dtype == np.uint8 and label_map.ndim == 2
        if not plain or label_map.max(initial=0) > len(confidence):
            raise OutputError(f"the label map of {self.name} is of something else")
        return PartSegmentation(
            name=self.name,
            label_map=label_map,
            num_parts=len(confidence),
            confidence=np.array(confidence, np.float32),
            typicality=np.array(typicality, np.float32),
            foreground_found=bool(self.foreground_found),
            foreground_confidence=self.foreground_confidence,
            object_pieces=self.object_pieces,
        )


def replaced_sentence(names: Sequence[str], consequence: str) -> str:
    """Return what is said of photos that were replaced after they were labelled.

    >>> replaced_sentence(["a.jpg", "b.jpg"], "they have no colours")
    '2 photos were replaced since they were labelled (a.jpg, ...), so they have no colours; label \
them anew with partdino segment --resume'
    """
    more = ", ..." if len(names) > 1 else ""
    return (
        f"{len(names)} photos were replaced since they were labelled ({names[0]}{more}), so "
        f"{consequence}; label them anew with partdino segment --resume"
    )


class ResultLog:
    """The lines of an output folder, in the order of the images.

    Parameters
    ----------
    out
        The output folder.
    head
        From `results_head`.
    """

    def __init__(self, out: Path, head: dict[str, Any]) -> None:
        self.path = out / RESULTS_FILE
        self._head = _line(head)

    def is_begun(self) -> bool:
        """Tell whether there are lines of this very run."""
        if not self.path.exists():
            return False
        with self.path.open("rb") as stream:
            return stream.readline() == self._head

    def begin(self) -> int:
        """Return how many images are done; 0 if the lines are missing or of another run.

        A line that was not finished is cut off.
        """
        done, end = 0, 0
        if self.path.exists():
            with self.path.open("rb") as stream:
                if stream.readline() == self._head:
                    end = len(self._head)
                    for line in stream:
                        if line.endswith(b"\n"):
                            done, end = done + 1, end + len(line)
        if end:
            os.truncate(self.path, end)
        else:
            self.path.unlink(missing_ok=True)
            self._append(self._head)
        return done

    def read(self, count: int) -> Iterator[Recorded]:
        """Yield the first lines."""
        return islice(read_results(self.path), count)

    def append(self, result: Recorded) -> None:
        """Add a line; raises `OutputError`."""
        self._append(_line(result.document()))

    def _append(self, line: bytes) -> None:
        try:
            # Without a buffer: what is written survives the process.
            with self.path.open("ab", buffering=0) as stream:
                written = stream.write(line)
        except OSError as error:
            raise OutputError(
                f"cannot write {self.path}: {error.strerror}; free space and go on with --resume"
            ) from error
        if written != len(line):
            raise OutputError(
                f"cannot write {self.path}: the disk is full; free space and go on with --resume"
            )


def read_head(path: Path) -> dict[str, Any]:
    """Return the first line; raises `OutputError` where the file is none of ours."""
    try:
        with path.open("rb") as stream:
            head = json.loads(stream.readline())
        if (head["format"], head["schema"]) != (_FORMAT, _SCHEMA):
            raise ValueError
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise OutputError(
            f"{path} is not the list of results of this version; label again with --overwrite"
        ) from error
    return head


def read_results(path: Path) -> Iterator[Recorded]:
    """Yield all lines but the first; raises `OutputError` where one is damaged."""
    with path.open("rb") as stream:
        for number, line in enumerate(islice(stream, 1, None), start=2):
            yield _recorded(line, path, number)


class Results(LongList[Recorded]):
    """The lines of a finished run but the first, read when they are asked for.

    Memory is a number for many lines: where they begin. What is read is checked as of
    `read_results`.
    """

    def __init__(self, path: Path) -> None:
        self._path, self._starts = path, array("q")
        count = 0
        with path.open("rb") as stream:
            position = len(stream.readline())
            for line in stream:
                if count % _LINES == 0:
                    self._starts.append(position)
                position += len(line)
                count += 1
        super().__init__(count)

    def _read(self, places: range) -> list[Recorded]:
        first, skipped = divmod(places.start, _LINES)
        with self._path.open("rb") as stream:
            stream.seek(self._starts[first])
            lines = islice(stream, skipped, skipped + len(places))
            return [
                _recorded(line, self._path, number)
                for number, line in enumerate(lines, start=places.start + 2)
            ]


class RecordedStems(Mapping[str, str]):
    """What the files of recorded images are called, by name; looked up where they lie.

    Parameters
    ----------
    recorded
        Sorted by name.
    """

    def __init__(self, recorded: Sequence[Recorded]) -> None:
        self._recorded = recorded

    def __getitem__(self, name: str) -> str:
        place = bisect_left(self._recorded, name, key=attrgetter("name"))
        if place == len(self._recorded) or (found := self._recorded[place]).name != name:
            raise KeyError(name)
        return found.stem

    def __iter__(self) -> Iterator[str]:
        return (result.name for result in self._recorded)

    def __len__(self) -> int:
        return len(self._recorded)


def _recorded(line: bytes, path: Path, number: int) -> Recorded:
    try:
        recorded = Recorded(**json.loads(line))
        recorded.check()
    except (ValueError, TypeError, RecursionError) as error:
        raise OutputError(
            f"{path}: line {number} is damaged; label again with --overwrite"
        ) from error
    return recorded


def merge_results(path: Path, shards: Sequence[Path]) -> None:
    """Write the lines of a whole run from those of its shards, in their order."""
    head = {**read_head(shards[0]), "shard": str(WHOLE)}
    with path.open("wb") as stream:
        stream.write(_line(head))
        for shard in shards:
            with shard.open("rb") as lines:
                stream.writelines(islice(lines, 1, None))


def _line(document: dict[str, Any]) -> bytes:
    return json.dumps(document).encode() + b"\n"
