"""The numbers of images in COCO files: counted, or those of a file that is there already."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

from partdino.errors import InputError


class ImageIds:
    """Numbers images: those of an existing file keep theirs, others follow its greatest.

    Parameters
    ----------
    known
        Numbers by the images' names.

    Attributes
    ----------
    new : int
        How many images got a number that they did not have.

    Examples
    --------
    >>> ids = ImageIds({"b.jpg": 7})
    >>> ids.of("a.jpg"), ids.of("b.jpg"), ids.of("c.jpg")
    (8, 7, 9)
    """

    def __init__(self, known: Mapping[str, int] | None = None) -> None:
        self._known = dict(known or {})
        self._last = max(self._known.values(), default=0)
        self.new = 0

    @classmethod
    def read(cls, path: Path) -> ImageIds:
        """Take the numbers of a COCO file's images, by their `file_name`; raises `InputError`."""
        try:
            images = json.loads(path.read_bytes())["images"]
            pairs = [(str(image["file_name"]), int(image["id"])) for image in images]
        except OSError as error:
            raise InputError(f"{path}: {error.strerror}; check --coco-ids") from error
        except (ValueError, KeyError, TypeError, RecursionError) as error:
            raise InputError(
                f"{path} is no COCO file whose images have an id and a file_name; check --coco-ids"
            ) from error
        known = dict(pairs)
        if len(known) != len(pairs) or len(set(known.values())) != len(pairs):
            raise InputError(f"{path}: two images have one file_name or one id; make them differ")
        return cls(known)

    def of(self, name: str) -> int:
        """Return the number of the next image."""
        if name in self._known:
            return self._known[name]
        self.new += 1
        self._last += 1
        return self._last
