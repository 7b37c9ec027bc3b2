"""`partdino apply`: a model whose parts are those of a review, for new photos."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from partdino.errors import OutputError, ReviewError
from partdino.files import check_writable
from partdino.output_marks import MODEL
from partdino.parts.model import PartModel
from partdino.parts.model_file import ModelFile, save_model
from partdino.parts.naming import Naming
from partdino.runs.exports.finished import FinishedRun, Part
from partdino.runs.folder import MODEL_FILE
from partdino.runs.resume import check_replaceable
from partdino.runs.review.apply import label_lookup
from partdino.runs.review.division import read_clusters


def apply_review(folder: Path, out: Path, overwrite: bool = False) -> dict[int, tuple[int, str]]:
    """Write a model with the parts of a run's review: split, merged, named, without background.

    Parameters
    ----------
    folder
        The output folder of a finished run that was reviewed.
    out
        The model file to write.
    overwrite
        Whether a model in the way is replaced.

    Returns
    -------
    dict
        Of each part, by its number in the model: the number that it has in the review, and its
        name.

    Raises
    ------
    PartDinoError
        Nothing was reviewed, no part is left, the model is not that of the run, or the file cannot
        be written.
    """
    run = FinishedRun(folder)
    if not run.review.says_anything:
        raise ReviewError(f"nothing is said of the parts in {folder}; partdino review {folder}")
    _check_out(out, folder, overwrite)
    read_clusters(folder, run.review.model_sha256)  # is it the run's own?
    model = ModelFile.read(folder / MODEL_FILE).model
    split = run.review.part_of_clusters(model.labels[model.parts.parts].astype(np.int64))
    of_cluster = label_lookup(run.review, run.num_parts)[split]
    parts = [part for part in run.parts() if part.number in of_cluster]
    if not parts:
        raise ReviewError(f"the review of {folder} calls all parts background; take one back")
    save_model(regrouped(model, of_cluster, parts), out)
    return {place: (part.number, part.name) for place, part in enumerate(parts, start=1)}


def regrouped(model: PartModel, of_cluster: np.ndarray, reviewed: Sequence[Part]) -> PartModel:
    """Return a model whose clusters form other parts.

    Parameters
    ----------
    model
        The model.
    of_cluster
        (M,): the number of the part that each of its clusters is of, 0 = background.
    reviewed
        The parts that become 1, 2, ... of the new model, all that are in `of_cluster`.
    """
    group = np.full(256, len(reviewed))
    group[[part.number for part in reviewed]] = np.arange(len(reviewed))
    clusters = model.parts.regrouped(group[of_cluster])
    naming = Naming(
        names=tuple(part.name for part in reviewed),
        colours=tuple(part.hex for part in reviewed),
        background=bool((of_cluster == 0).any()),
    )
    options = replace(model.options, parts=len(reviewed))
    return PartModel(options, model.weights_sha256, clusters, model.foreground, naming=naming)


def _check_out(out: Path, folder: Path, overwrite: bool) -> None:
    check_replaceable(out, MODEL, overwrite)
    own = folder / MODEL_FILE
    if out.exists() and own.exists() and out.samefile(own):
        raise OutputError(f"{out} is the model of the run, whose review needs it; another --out")
    check_writable(out.parent)
