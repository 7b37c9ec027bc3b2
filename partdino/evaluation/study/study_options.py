"""Every option of a study that is none of the method."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Annotated, Any, Literal

from annotated_types import Interval

from partdino.errors import ConfigError
from partdino.evaluation.benchmarks import BenchmarkName
from partdino.options import (
    NUMBERS,
    OPTION_NAMES,
    Options,
    convert,
    option,
    refuse_unknown,
    validate,
)
from partdino.part_range import MOST_PARTS


@dataclass(kw_only=True)
class StudyOptions:
    """What can be told about a study."""

    parts: Annotated[int, Interval(ge=2, le=MOST_PARTS)] = option(
        8, "Study", "Number of clusters that patches are assigned to, K.", "--parts", "-k"
    )
    benchmark: BenchmarkName | None = option(
        None,
        "Study",
        "INPUT is the root of this data set (data/README.md), not a folder of photos.",
    )
    split: Literal["all", "train", "test"] = option(
        "all", "Study", "Which images of the benchmark."
    )
    split_file: Path | None = option(
        None, "Study", "The list that cuts the train file of partimagenet-ood in two."
    )
    images: Annotated[int, Interval(ge=1)] | None = option(
        None, "Study", "Take at most so many images, spread evenly."
    )
    foreground: Literal["auto", "ground-truth", "none", "masks"] = option(
        "auto",
        "Study",
        "auto: found without labels; ground-truth: the labelled pixels (needs a benchmark with "
        "part masks); none: the images are all object; masks: read from --masks.",
    )
    threshold: Annotated[float, Interval(ge=0, le=1)] = option(
        0.5, "Study", "Strength from which a ridge of the boundary map counts as a boundary."
    )
    temperature: Annotated[float, Interval(ge=0.001, le=10)] = option(
        0.1,
        "Study",
        "Of the soft assignment: a cosine lower by this much counts 1/e. The summary also has half "
        "and twice of it.",
    )


STUDY_NAMES = tuple(f.name for f in fields(StudyOptions))

_OF_BENCHMARKS = ("split", "split_file")

# Options of the method that a study has itself.
REPLACED = ("parts", "foreground", "hints")


def validate_study(
    given: Mapping[str, Any], source: str = "options"
) -> tuple[StudyOptions, Options]:
    """Check the options of a study and fill in the defaults.

    Parameters
    ----------
    given
        Values by field name of `StudyOptions` and `partdino.options.Options`.
    source
        What an error calls the origin of the values.

    Returns
    -------
    study, method
        The method's number of parts and foreground are the study's; "ground-truth" is "none", with
        masks given otherwise.

    Raises
    ------
    ConfigError
        As `partdino.options.validate`, or options that do not go together.
    """
    others = (name for name in OPTION_NAMES if name not in (*REPLACED, *STUDY_NAMES))
    refuse_unknown(given, (*STUDY_NAMES, *others, NUMBERS), source)
    study = convert(StudyOptions, {k: v for k, v in given.items() if k in STUDY_NAMES}, source)
    true = study.foreground == "ground-truth"
    own = {k: v for k, v in given.items() if k not in STUDY_NAMES}
    foreground = "none" if true else study.foreground
    method = validate({**own, "parts": study.parts, "foreground": foreground}, source)
    if method.boundaries == "none":
        raise ConfigError("the study needs a boundary map: --boundaries hed or gradient")
    if study.benchmark is None:
        if true:
            raise ConfigError("--foreground ground-truth needs a --benchmark with part masks")
        for name in _OF_BENCHMARKS:
            if name in given:
                flag = name.replace("_", "-")
                raise ConfigError(f"--{flag} needs a --benchmark: photos have no splits")
    return study, method
