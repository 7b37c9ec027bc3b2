"""Every option of an evaluation that is none of the method."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Annotated, Any, Literal

from annotated_types import Interval

from partdino.options import (
    NUMBERS,
    OPTION_NAMES,
    Options,
    convert,
    option,
    refuse_unknown,
    validate,
)

METHODS = ("partdino", "patch", "position")

# Options of the method that an evaluation sets itself.
REPLACED = ("parts", "seed", "foreground", "masks", "hints")


@dataclass(kw_only=True)
class EvalOptions:
    """What can be told about an evaluation; the keys of a preset beside those of the method.

    None stands for what the benchmark's papers do.
    """

    parts: list[Annotated[int, Interval(ge=1, le=255)]] | None = option(
        None,
        "Evaluation",
        "Numbers of parts, K: --parts 4 8 16. Default: what papers on this benchmark use.",
        "--parts",
        "-k",
    )
    seeds: Annotated[int, Interval(ge=1, le=1000)] = option(
        3, "Evaluation", "Runs with other seeds of the clustering, for mean and spread."
    )
    method: list[Literal["partdino", "patch", "position", "all"]] | None = option(
        None,
        "Evaluation",
        "partdino; patch: clusters of patch features, upsampled; position: clusters of the place "
        "in the foreground's box; all. Same features, foreground, K and seeds. (default partdino)",
    )
    foreground: Literal["auto", "ground-truth", "none"] = option(
        "auto",
        "Evaluation",
        "auto: found without labels; ground-truth: fit and score labelled pixels only (needs part "
        "masks); none: the images are all object.",
    )
    limit: Annotated[int, Interval(ge=1)] | None = option(
        None, "Evaluation", "Take at most so many images of each split, spread evenly."
    )
    size: Annotated[int, Interval(ge=16, le=4096)] | None = option(
        None, "Protocol", "S: keypoints are looked up on label maps of S x S pixels."
    )
    eval_size: Literal["full"] | Annotated[int, Interval(ge=16, le=4096)] | None = option(
        None,
        "Protocol",
        "E: pixels are compared at E x E (papers take 128 or 224), or 'full': at the annotations' "
        "size.",
    )
    split: Literal["test", "train"] = option(
        "test", "Protocol", "The split that is scored. Parts are always fitted on train."
    )
    split_file: Path | None = option(
        None, "Protocol", "The list that cuts the train file in two (needed)."
    )
    aligned: bool | None = option(
        None,
        "Protocol",
        "Which of the two sets; default: the aligned one if its images are there.",
        "--aligned/--in-the-wild",
    )
    min_box_fraction: Annotated[float, Interval(ge=0, le=1)] | None = option(
        None,
        "Protocol",
        "In the wild, only faces whose box covers this share of the image; some papers take 0.3.",
    )

    @property
    def methods(self) -> tuple[str, ...]:
        """The methods to run, in a fixed order."""
        wanted = self.method or ["partdino"]
        return METHODS if "all" in wanted else tuple(m for m in METHODS if m in wanted)


EVAL_NAMES = tuple(f.name for f in fields(EvalOptions))


def validate_evaluation(
    given: Mapping[str, Any], source: str = "options"
) -> tuple[EvalOptions, Options]:
    """Check the options of an evaluation and fill in the defaults.

    Parameters
    ----------
    given
        Values by field name of `EvalOptions` and, except for `REPLACED`, of
        `partdino.options.Options`; a list of one may be given as its item.
    source
        What an error calls the origin of the values.

    Returns
    -------
    evaluation
        The options of the evaluation.
    method
        The options of the method; those in `REPLACED` stand at their defaults.

    Raises
    ------
    ConfigError
        As `partdino.options.validate`.
    """
    names = (*EVAL_NAMES, NUMBERS, *(name for name in OPTION_NAMES if name not in REPLACED))
    refuse_unknown(given, names, source)
    own = {name: value for name, value in given.items() if name in EVAL_NAMES}
    for name in ("parts", "method"):
        if own.get(name) is not None and not isinstance(own[name], list):
            own[name] = [own[name]]
    method = {name: value for name, value in given.items() if name not in EVAL_NAMES}
    return convert(EvalOptions, own, source), validate(method, source)
