"""`partdino segment --update --refit`: new parts of all photos that keep the numbers of the old.

The photos that have not changed are labelled with both models. A new part gets the number of the
old one that it shares most with, in a one-to-one match; the others get the places that are left.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from partdino.engine.outcomes import Outcome, run_stage
from partdino.engine.pool import Pool
from partdino.errors import OutputError
from partdino.files import file_sha256
from partdino.metrics import ari_from_contingency, contingency_table, match_parts, part_iou
from partdino.options import RUNNING_OPTIONS, Options, validate
from partdino.parts.labelling import label_image
from partdino.parts.model import PartModel
from partdino.parts.model_file import ModelFile, save_model
from partdino.parts.sampling import evenly_spaced
from partdino.runs.changes import Changes
from partdino.runs.folder import CURVE_NAME, MODEL_FILE, OutputFolder, read_run
from partdino.runs.image_names import with_same_names
from partdino.runs.kept_lists import kept_lists
from partdino.runs.label_run import LabelRun
from partdino.runs.lock import lock_folder
from partdino.runs.reporting import Reporter, RunLog, resumable
from partdino.runs.result_log import RESULTS_FILE, Recorded, Results
from partdino.runs.resume import Existing, fingerprint, outline_of, share_of
from partdino.runs.review import Review, read_review, write_review
from partdino.runs.segment import complete, find, settled
from partdino.runs.shard import WHOLE
from partdino.runs.steps.describe import check_any
from partdino.runs.steps.fit import fit_store
from partdino.runs.store import FeatureStore, StoredImage
from partdino.runs.update import check_whole, with_options_of_run
from partdino.runs.writers import write_parts_curve

_MOST_PHOTOS = 200  # that old and new parts are compared on
_SAME = 0.5  # IoU of a part that is the old one: no two can be that of one


@resumable("--update --refit")
def refit(
    inputs: Sequence[Path | str],
    out: Path,
    given: Mapping[str, Any],
    reporter: Reporter,
    drop_removed: bool = False,
    for_review: bool = True,
    least_share: float | None = None,
    outline_size: int | None = None,
) -> dict[str, Any]:
    """Fit a finished run anew over the photos of today and label them all.

    Parameters
    ----------
    inputs
        As of the run.
    out
        Its output folder. What is there stays until the new results are whole.
    given
        Option values by name; the others are those of the run.
    reporter
        Where to say what happens.
    drop_removed
        Whether results of photos that are not there any more may go.
    for_review
        As of `segment`.
    least_share, outline_size
        As of `segment`; may be another one than the run's.

    Returns
    -------
    dict
        The content of `run.json`; its ``refit`` is `Match.document`.

    Raises
    ------
    PartDinoError
        There is no finished run, results would be lost, or nothing could be done.
    """
    log = RunLog(reporter, again="--update --refit")
    with lock_folder(out), kept_lists(out, Existing.REFIT) as lists:
        folder = OutputFolder(out, Existing.REFIT)
        done = read_run(out)
        check_whole(out, done)
        old = ModelFile.read(out / MODEL_FILE)
        review = read_review(out, old.sha256, old.model.options.parts)
        asked = _options(with_options_of_run(given, done["options"], out), done, old)
        photos = find(inputs, folder, asked, log, lists)
        recorded = Results(out / RESULTS_FILE)
        _check_removed(out, Changes.between(recorded, photos), drop_removed)
        setting = settled(asked, None, log)
        share = share_of(folder.begun, least_share)
        size = outline_of(folder.begun, outline_size)
        same = fingerprint(setting.identity(photos), asked, None, str(WHOLE), share, size)
        run = LabelRun(
            folder, same, WHOLE, None, log, for_review, begun_as={**same, "refit": old.sha256}
        )

        def model(store: FeatureStore, pool: Pool | None) -> PartModel:
            check_any(store, None)
            fitted = fit_store(store, asked.parts, setting.options, log, pool)
            write_parts_curve(folder.place / CURVE_NAME, fitted.curve)
            match = compare(out, recorded, store, fitted, pool)
            for line in match.lines:
                reporter.say(line)
            run.more["refit"] = match.document
            fitted = renumbered(fitted, match.numbers)
            save_model(fitted, folder.place / MODEL_FILE)
            if review.revision:
                sha256 = file_sha256(folder.place / MODEL_FILE)
                write_review(folder.place, match.review(review, sha256))
            return fitted

        return complete(run, folder, photos, setting, model, log)


@dataclass(frozen=True)
class Match:
    """Which of the new parts is which of the old ones.

    Parameters
    ----------
    table
        int64 (1 + P, 1 + C): pixels by their old and their new part, 0 is background.
    photos
        How many photos they are of.
    """

    table: np.ndarray
    photos: int

    @property
    def numbers(self) -> list[int]:
        """The number that each of the C new parts gets: that of its old part, or one left over."""
        count = self.table.shape[1] - 1
        numbers = {new: old for old, new in match_parts(self.table).items() if old <= count}
        free = iter(sorted({*range(1, count + 1)} - {*numbers.values()}))
        return [numbers.get(new) or next(free) for new in range(1, count + 1)]

    @property
    def agreement(self) -> float:
        """Adjusted Rand index of the pixels that are object to both; 1 is the same division."""
        return ari_from_contingency(self.table[1:, 1:])

    @property
    def document(self) -> dict[str, Any]:
        """What `run.json` holds: ``was`` is null of a new part, ``is`` of one that is gone."""
        iou, numbers, matched = part_iou(self.table), self.numbers, match_parts(self.table)
        parts: list[dict[str, Any]] = [
            {"was": old, "is": numbers[new - 1], "iou": round(float(iou[old - 1, new - 1]), 4)}
            for old, new in sorted(matched.items())
        ]
        gone = [old for old in range(1, len(iou) + 1) if old not in matched]
        new = [n for i, n in enumerate(numbers, start=1) if i not in matched.values()]
        parts += [{"was": old, "is": None, "iou": 0.0} for old in gone]
        parts += [{"was": None, "is": number, "iou": 0.0} for number in sorted(new)]
        return {"photos": self.photos, "agreement": round(self.agreement, 4), "parts": parts}

    @property
    def same(self) -> dict[int, int]:
        """Old part to its number now, where most of what either has is of both."""
        return {p["was"]: p["is"] for p in self.document["parts"] if p["iou"] >= _SAME}

    @property
    def lines(self) -> list[str]:
        """The same, to be said."""
        lines = [f"Old and new parts agree to {self.agreement:.2f} (ARI) on {self.photos} photos."]
        for part in self.document["parts"]:
            if part["is"] is None:
                lines.append(f"Part {part['was']} is gone.")
            elif part["was"] is None:
                lines.append(f"Part {part['is']} is new.")
            elif part["was"] != part["is"] or part["iou"] < _SAME:
                lines.append(
                    f"Part {part['is']} was part {part['was']}; {part['iou']:.0%} of what either "
                    "has is of both."
                )
        return lines

    def review(self, review: Review, model_sha256: str) -> Review:
        """Return what stays true of a review: names and fates of same parts, excluded photos."""
        same = self.same
        parts = {
            same[part]: replace(said, merged_into=same.get(said.merged_into or 0))
            for part, said in review.parts.items()
            if part in same and (said.merged_into is None or said.merged_into in same)
        }
        photos = {name: said for name, said in review.photos.items() if said == "excluded"}
        return Review(model_sha256, review.revision + 1, parts, photos)


def compare(
    out: Path,
    recorded: Sequence[Recorded],
    store: FeatureStore,
    model: PartModel,
    pool: Pool | None,
) -> Match:
    """Compare a run's label maps with those of a new model, on photos that have not changed.

    Parameters
    ----------
    out, recorded
        The output folder of the run, and what it has recorded.
    store, model
        The photos of today, and the new model.
    pool
        Worker processes, or None.

    Raises
    ------
    OutputError
        There is no such photo.
    """
    number = sum(1 for _ in _unchanged(recorded, store))
    if not number:
        raise OutputError(
            f"all photos of {out} have changed, so that no part can keep its number; fit anew with "
            "--overwrite"
        )
    chosen = set(evenly_spaced(range(number), _MOST_PHOTOS))
    shared = [pair for place, pair in enumerate(_unchanged(recorded, store)) if place in chosen]
    count = partial(_count, out=out.absolute(), model=model)
    table = np.zeros((1 + len(shared[0][0].confidence or ()), 1 + len(model.parts)), np.int64)
    for outcome in run_stage("compare", count, _verified(shared), pool):
        if outcome.failure is not None:
            raise OutputError(f"{outcome.failure}; fit anew with --overwrite")
        table += outcome.result
    return Match(table, len(shared))


def _unchanged(
    recorded: Sequence[Recorded], store: FeatureStore
) -> Iterator[tuple[Recorded, StoredImage]]:
    for result, image in with_same_names(recorded, store.images):
        if image is None or image.failure is not None or result.failure is not None:
            continue
        if image.key == result.key:
            yield result, image


def _verified(shared: Sequence[tuple[Recorded, StoredImage]]) -> Iterator[Outcome]:
    for pair in shared:
        pair[1].verify()
        yield Outcome(pair[1].name, pair)


def _count(pair: tuple[Recorded, StoredImage], out: Path, model: PartModel) -> np.ndarray:
    recorded, image = pair
    old = recorded.recall(out)
    new = label_image(image.name, image.read(), model)
    shape = (1 + old.num_parts, 1 + len(model.parts))
    return contingency_table(old.label_map, new.label_map, shape)


def renumbered(model: PartModel, numbers: Sequence[int]) -> PartModel:
    """Return the same model with other numbers of its C parts: each of 1..C once."""
    parts = np.array(numbers, np.int64)[model.parts.parts] - 1
    return replace(model, parts=model.parts.regrouped(parts))


def _options(given: Mapping[str, Any], done: Mapping[str, Any], old: ModelFile) -> Options:
    """Return what is asked of the fit: what was asked of the run's, unless it is given."""
    running = {name: value for name, value in given.items() if name in RUNNING_OPTIONS}
    own = vars(old.model.asked(running, str(old.path)))
    return validate({**own, "parts": done["fingerprint"]["parts"], **given})


def _check_removed(out: Path, changes: Changes, drop_removed: bool) -> None:
    if changes.lost and not drop_removed:
        raise OutputError(
            f"{len(changes.lost)} photos of {out} are not there any more ({changes.lost[0].name}, "
            "...), and their results are of the old parts; --drop-removed takes them out"
        )
