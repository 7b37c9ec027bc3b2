"""`partdino segment --update`: a finished run's folder follows its photos.

What is new or has changed is labelled with the parts that are there; all that covers the whole run
is made anew from what is kept.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from partdino.errors import ConfigError, ModelError, OutputError
from partdino.parts.model_file import ModelFile
from partdino.runs.folder import MODEL_FILE, OutputFolder, read_run
from partdino.runs.kept_lists import kept_lists
from partdino.runs.label_run import LabelRun
from partdino.runs.lock import lock_folder
from partdino.runs.reporting import Reporter, RunLog, resumable
from partdino.runs.resume import INSTANCES, OUTLINE, Existing, check_same, outline_of
from partdino.runs.segment import complete, find, options_of, settled
from partdino.runs.shard import WHOLE
from partdino.version import __version__

# Of the run in the folder, where they are not given: without them the photos would be described
# otherwise, or not at all.
_OF_THE_RUN = ("masks", "hints", "weights", "device")


@resumable("--update")
def update(
    inputs: Sequence[Path | str],
    out: Path,
    given: Mapping[str, Any],
    reporter: Reporter,
    model_file: Path | None = None,
    drop_removed: bool = False,
    for_review: bool = True,
    least_share: float | None = None,
    outline_size: int | None = None,
) -> dict[str, Any]:
    """Label what is new or has changed in a finished run, with its model and its options.

    Parameters
    ----------
    inputs
        As of the run.
    out
        Its output folder.
    given
        Option values by name; those that decide results may only be the run's own.
    reporter
        Where to say what happens.
    model_file
        Which model the run is believed to have, if that is to be checked.
    drop_removed
        Whether photos that are not there any more are taken out; else their results stay.
    for_review, least_share, outline_size
        As of `segment`.

    Returns
    -------
    dict
        The content of `run.json`; ``update`` counts what has changed.

    Raises
    ------
    PartDinoError
        There is no finished run, it is of other options, another model or other photos, or nothing
        could be done.
    """
    log = RunLog(reporter, again="--update")
    with lock_folder(out), kept_lists(out, Existing.UPDATE) as lists:
        folder = OutputFolder(out, Existing.UPDATE)
        done = read_run(out)
        check_whole(out, done)
        source = ModelFile.read(out / MODEL_FILE)
        if model_file is not None and ModelFile.read(model_file).sha256 != source.sha256:
            raise ModelError(
                f"{model_file} is not the model of the run in {out}; leave --model out, or label "
                "all photos with it: --overwrite"
            )
        asked = options_of(with_options_of_run(given, done["options"], out), source)
        photos = find(inputs, folder, asked, log, lists)
        setting = settled(asked, source, log)
        now = {**done["fingerprint"], "version": __version__, **setting.identity(photos)}
        if least_share is not None:
            now[INSTANCES] = least_share
        if outline_size not in (None, outline_of(done["fingerprint"])):
            now[OUTLINE] = outline_size
        check_same(
            out,
            done["fingerprint"],
            now,
            f"update it with the same, or label all photos anew: --overwrite --model "
            f"{out / MODEL_FILE}",
        )
        run = LabelRun(folder, now, WHOLE, None, log, for_review, drop_removed)
        return complete(run, folder, photos, setting, lambda store, pool: source.model, log)


def check_whole(out: Path, done: Mapping[str, Any]) -> None:
    """Raise `OutputError` where a folder holds a shard of a run."""
    if done.get("shard") != str(WHOLE):
        raise OutputError(
            f"{out} holds shard {done.get('shard')} of a run; merge the shards, and update the "
            "whole"
        )


def with_options_of_run(
    given: Mapping[str, Any], options: Mapping[str, Any], out: Path
) -> dict[str, Any]:
    """Add what a model file does not hold of the options of a run; raises `ConfigError`."""
    own = {name: options[name] for name in _OF_THE_RUN if options.get(name) is not None}
    values = {**own, **given}
    for name in ("masks", "hints", "weights"):
        if name in own and name not in given and not Path(own[name]).exists():
            raise ConfigError(
                f"{out} holds a run with --{name} {own[name]}, which is not there; pass --{name}"
            )
    if "masks" in given and "masks" not in own:
        raise ConfigError(
            f"{out} holds a run without masks; leave --masks out, or label all photos anew: "
            "--overwrite"
        )
    return values
