"""What has changed since a run was finished: its results beside the photos of today."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import zip_longest
from typing import Any

from partdino.describe.photos import Photo
from partdino.runs.image_names import image_stems
from partdino.runs.result_log import Recorded
from partdino.runs.store import StoredImage

Image = Photo | StoredImage


@dataclass(frozen=True)
class Changes:
    """The images of a finished run, by what has become of them.

    Attributes
    ----------
    present
        Every image that is there today, in its order, as it was recorded but with the place and the
        version of today; new ones, too.
    added
        Images that the run did not have.
    changed
        Images whose photo or mask is another version now.
    failed
        Images that had failed, and may not any more: what was wrong may have been cured.
    removed
        What is recorded of images that are not there any more.
    moved
        Whether a photo lies elsewhere now, itself unchanged.
    unknown
        Whether a version was not recorded (lists of Part-DINO 0.1).
    """

    present: list[Recorded] = field(default_factory=list)
    added: list[Image] = field(default_factory=list)
    changed: list[Image] = field(default_factory=list)
    failed: list[Image] = field(default_factory=list)
    removed: list[Recorded] = field(default_factory=list)
    moved: bool = False
    unknown: bool = False

    @classmethod
    def between(
        cls, recorded: Sequence[Recorded], images: Sequence[Image], drop_removed: bool = False
    ) -> Changes:
        """Compare what a run has recorded with the images of today.

        Files keep their names; new ones take none of theirs, but those of removed images if these
        are dropped.
        """
        before = {result.name: result for result in recorded}
        pairs = [(before.get(image.name), image) for image in images]
        known = [(result, image) for result, image in pairs if result is not None]
        done = [(result, image) for result, image in known if result.failure is None]
        names = {image.name for image in images}
        taken = [r.stem for r in recorded if r.name in names or not drop_removed]
        files = image_stems([image.name for result, image in pairs if result is None], taken)
        return cls(
            present=[_today(result, image, files) for result, image in pairs],
            added=[image for result, image in pairs if result is None],
            changed=[image for result, image in done if result.key not in (None, image.key)],
            failed=[
                image
                for result, image in known
                if result.failure is not None and not _has_failed(image)
            ],
            removed=[result for result in recorded if result.name not in names],
            moved=any(result.photo != str(_place(image)) for result, image in known),
            unknown=any(result.key is None for result, _ in done),
        )

    @property
    def stale(self) -> list[Any]:
        """The images that have to be labelled, in their order."""
        stale = {image.name: image for image in (*self.added, *self.changed, *self.failed)}
        return [stale[result.name] for result in self.present if result.name in stale]

    @property
    def counts(self) -> dict[str, int]:
        """How many images are of each kind."""
        kinds = ("added", "changed", "failed", "removed")
        return {kind: len(getattr(self, kind)) for kind in kinds}


def are_as_recorded(recorded: Iterable[Recorded], images: Iterable[Image]) -> bool:
    """Tell whether nothing has changed since a run; both are in their order, and read once."""
    return all(
        result is not None
        and image is not None
        and (result.name, result.photo) == (image.name, str(_place(image)))
        and (result.key == image.key if result.failure is None else _has_failed(image))
        for result, image in zip_longest(recorded, images)
    )


def _has_failed(image: Image) -> bool:
    return getattr(image, "failure", None) is not None


def _today(result: Recorded | None, image: Image, files: Mapping[str, str]) -> Recorded:
    photo, key = str(_place(image)), image.key
    if result is None:
        return Recorded(image.name, photo, key, file=files[image.name])
    return replace(result, photo=photo, key=result.key and key)


def _place(image: Image) -> Any:
    return image.path if isinstance(image, Photo) else image.photo
