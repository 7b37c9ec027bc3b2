"""Every option of the method, in one place.

The fields of `Options` are the estimator's parameters, the command line's options and the keys of
a configuration file.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from difflib import get_close_matches
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar

from annotated_types import Interval

from partdino import plugins
from partdino.errors import ConfigError
from partdino.method import DEFAULT_METHOD, Method
from partdino.part_range import MOST_PARTS, parse_parts

T = TypeVar("T")

# That stands for a stage, see `partdino.plugins`: an option holds its name once it is checked.
Function = Callable[..., Any]


def option(default: Any, group: str, help: str, *flags: str) -> Any:
    """Declare a field with the text, heading and flags (if not its name) for the command line."""
    return field(default=default, metadata={"group": group, "help": help, "flags": flags})


@dataclass(kw_only=True)
class Options:
    """What can be told about the method. Every default but `parts` suits photos of any one kind.

    The metadata of the fields hold the description that ``partdino segment --help`` prints.
    """

    parts: Annotated[int, Interval(ge=1, le=MOST_PARTS)] | str = option(
        8,
        "Parts",
        "Number of parts, K; a range such as 4-16: the best K in it; auto: the best of 4-12.",
        "--parts",
        "-k",
    )
    seed: Annotated[int, Interval(ge=0, le=2**32 - 1)] = option(
        0, "Parts", "Seed of the clustering."
    )
    fit_on: Literal["sample", "all"] = option(
        "sample",
        "Parts",
        "sample: at most 100,000 cells of 5,000 images; all: every cell, in passes over the "
        "features.",
    )
    foreground: Literal["auto", "none", "masks"] = option(
        "auto",
        "Parts",
        "auto: found without labels; none: the images are all object; masks: read from --masks.",
    )
    foreground_threshold: Annotated[float, Interval(gt=0, lt=1)] = option(
        0.5,
        "Parts",
        "Probability from which on a place is object, with --foreground auto: less finds more.",
    )
    masks: Path | None = option(
        None, "Parts", "Folder of masks that mirrors the input; object where not 0."
    )
    hints: Path | None = option(
        None,
        "Parts",
        "CSV of points and boxes that help --foreground auto, with columns file, kind, x, y, width "
        "and height; see the guide.",
    )
    symmetry: Literal["auto", "together", "apart"] = option(
        "auto",
        "Parts",
        "Parts that mirror each other, such as two eyes. auto: as the features have it; together: "
        "one part; apart: two, by the side of the image. Other than auto, the network runs twice.",
    )
    backbone: str | Function = option(
        "auto",
        "Features",
        "Short name (dino-s16, dinov2-s14, dinov3-b16, ...), a timm name or the name of a plugin; "
        "auto: dinov2-s14 if its weights can be had, else efficientnet-lite2.",
    )
    weights: Path | None = option(
        None, "Features", "Weights file (.pth, .safetensors) to use instead of the hub's."
    )
    layer: int | None = option(
        None, "Features", "Block that is read, from 0; negative: from the end. Default: the last."
    )
    facet: Literal["auto", "token", "key", "query", "value"] = option(
        "auto", "Features", "What is read of the block; auto: the usual one of the backbone."
    )
    image_size: Annotated[int, Interval(ge=32, le=8192)] | None = option(
        None,
        "Features",
        "Network input: square root of its area in pixels. Default: the backbone's own, for a grid "
        "of 32 to 42 cells a side.",
    )
    stride: Annotated[int, Interval(ge=1, le=64)] | None = option(
        None,
        "Features",
        "Pixels from patch to patch; less than the patch gives a finer grid. Default: the patch.",
    )
    boundaries: str | Function = option(
        "auto",
        "Regions",
        "Boundary detector: hed, gradient, none or the name of a plugin; auto: hed if its weights "
        "are here, else none.",
    )
    regions: str | Function = option(
        "auto",
        "Regions",
        "watershed (of the boundary map), felzenszwalb, slic or the name of a plugin; auto: "
        "watershed, or felzenszwalb if there is no boundary map.",
    )
    region_scale: Annotated[float, Interval(ge=0)] | None = option(
        None,
        "Regions",
        "Coarseness: boundary depth for watershed (0 to 1; default 0.02), scale for felzenszwalb "
        "(60), number of regions for slic (500).",
    )
    min_region: Annotated[int, Interval(ge=1)] = option(
        30, "Regions", "Pixels that the smallest region has, at --region-size."
    )
    region_size: Annotated[int, Interval(ge=64, le=8192)] = option(
        448,
        "Regions",
        "Image size for boundaries and regions: square root of its area in pixels. Outlines are "
        "as fine as this, whatever the photo's size; boundaries and regions take time by the "
        "area.",
    )
    device: str = option("auto", "Running", "cpu, cuda, cuda:1, mps; auto: the best one here.")
    precision: Literal["auto", "fp32", "bf16", "fp16"] = option(
        "auto",
        "Running",
        "Number format of the networks; auto: bf16 on a CPU that has it in hardware, else fp32.",
    )
    batch_size: Annotated[int, Interval(ge=1)] | Literal["auto"] = option(
        "auto", "Running", "Images that an accelerator takes at once; auto: what it has memory for."
    )
    workers: Annotated[int, Interval(ge=0, le=256)] | Literal["auto"] = option(
        "auto",
        "Running",
        "Processes beside this one; auto: one for each core, 0: none. With --engine ray, auto is "
        "one for each core of the cluster, or GPU with --device cuda, and more as it grows.",
    )
    engine: Literal["local", "ray"] = option(
        "local",
        "Running",
        "Where the workers run: local, or ray: on the Ray cluster that RAY_ADDRESS names or this "
        "machine is part of, else on Ray on this machine alone.",
    )
    # No option of the command line: of the library, and of a configuration file.
    numbers: Method = DEFAULT_METHOD


@dataclass(frozen=True, kw_only=True)
class SettledOptions:
    """What a run describes and fits with: `Options` once all that can be settled before it is.

    Only how many workers and images at a time stay open, which change no result, and the number of
    parts, which the fit may have to choose (`FittedOptions`).
    """

    seed: int
    fit_on: Literal["sample", "all"]
    foreground: Literal["auto", "none", "masks"]
    foreground_threshold: float
    masks: Path | None  # absolute
    hints: Path | None  # absolute
    symmetry: Literal["auto", "together", "apart"]
    backbone: str
    weights: Path | None  # absolute
    layer: int | None  # None for convolutional networks
    facet: str
    image_size: int
    stride: int | None
    boundaries: str
    regions: str
    region_scale: float
    min_region: int
    region_size: int
    device: str
    precision: Literal["fp32", "bf16", "fp16"]
    batch_size: int | Literal["auto"]
    workers: int | Literal["auto"]
    engine: Literal["local", "ray"]
    numbers: Method

    @property
    def device_here(self) -> str:
        """Where this process itself computes: with Ray, the device is that of the workers."""
        return "cpu" if self.engine == "ray" else self.device

    def values(self) -> dict[str, Any]:
        """Return every option as a value that JSON and YAML can hold; `numbers` are apart."""
        values = {name: getattr(self, name) for name in OPTION_NAMES if hasattr(self, name)}
        return {key: str(v) if isinstance(v, Path) else v for key, v in values.items()}


@dataclass(frozen=True, kw_only=True)
class FittedOptions(SettledOptions):
    """The options that a model was fitted with: those of the run, and how many parts it has."""

    parts: int


NUMBERS = "numbers"  # the field that is no option
OPTION_NAMES = tuple(f.name for f in fields(Options) if f.metadata)

# Options that also take a function, and the stage that it stands for.
STAGES: dict[str, plugins.Stage] = {
    "backbone": "features",
    "boundaries": "boundaries",
    "regions": "regions",
}

# What is asked of features that are there, not of the photos.
FITTING_OPTIONS = ("parts", "seed", "fit_on", "foreground", "foreground_threshold")

# How a run goes, not what it computes: free to differ between fitting, resuming and labelling.
RUNNING_OPTIONS = (
    *("masks", "hints", "weights"),
    *("device", "precision", "batch_size", "workers", "engine"),
)

# Of these, "auto" stands for what the machine or the photos decide; elsewhere it is a choice.
DECIDED_OPTIONS = ("parts", "backbone", "facet", "boundaries", "regions")


def validate(values: Mapping[str, Any], source: str = "options") -> Options:
    """Check option values and fill in the defaults.

    Parameters
    ----------
    values
        Values by field name; text that stands for a number or a path is converted.
    source
        What an error calls the origin of the values, such as a file name.

    Raises
    ------
    ConfigError
        A name is unknown, or a value has the wrong type or is out of range.
    """
    refuse_unknown(values, (*OPTION_NAMES, NUMBERS), source)
    for name, value in values.items():
        if isinstance(value, bool):  # would pass for 0 or 1
            raise ConfigError(f"{source}: {name} is {str(value).lower()}: no option is yes or no")
    checked = dict(values)
    if checked.get("masks") is not None:
        checked.setdefault("foreground", "masks")
    for name, stage in STAGES.items():
        if callable(value := checked.get(name)):
            checked[name] = plugins.refer(stage, value)
    if "parts" in checked:
        checked["parts"] = parse_parts(checked["parts"], source)
    options = convert(Options, checked, source)
    if (options.foreground == "masks") != (options.masks is not None):
        raise ConfigError(f"{source}: --foreground masks and --masks DIR go together")
    if options.hints is not None and options.foreground != "auto":
        raise ConfigError(
            f"{source}: --hints helps to find the foreground, and with --foreground "
            f"{options.foreground} there is none to find; leave one of them out"
        )
    return options


def refuse_unknown(values: Mapping[str, Any], known: Sequence[str], source: str) -> None:
    """Raise `ConfigError` where a value has a name that is not known."""
    unknown = sorted(set(values) - set(known))
    if unknown:
        alike = get_close_matches(unknown[0], known)
        cure = f"did you mean {alike[0]}?" if alike else f"the options are {', '.join(known)}"
        raise ConfigError(f"{source}: unknown option '{unknown[0]}'; {cure}")


def convert(kind: type[T], values: Mapping[str, Any], source: str) -> T:
    """Make a dataclass of options from values by name, checked and converted as `validate` does."""
    # Imported here because it is slow and `partdino --help` does not need it.
    from pydantic import TypeAdapter, ValidationError

    try:
        return TypeAdapter(kind).validate_python(dict(values))
    except ValidationError as error:
        problem, *others = error.errors()
        name = problem["loc"][0]
        # Of a number or a word, each has its own.
        reasons = [each["msg"] for each in (problem, *others) if each["loc"][0] == name]
        if name == NUMBERS:
            name, reasons = ".".join(map(str, problem["loc"][:2])), [problem["msg"]]
        reason = ", or ".join(text[0].lower() + text[1:] for text in dict.fromkeys(reasons))
        raise ConfigError(f"{source}: {name} is {problem['input']!r}: {reason}") from error


def read_config(path: Path) -> dict[str, Any]:
    """Read option values from a YAML file of ``name: value`` lines.

    Raises
    ------
    ConfigError
        The file cannot be read or is not such a mapping.
    """
    import yaml

    try:
        values = yaml.load(path.read_text(encoding="utf-8"), _unique_keys(yaml))
    except OSError as error:
        raise ConfigError(f"cannot read {path}: {error.strerror}; check --config") from error
    except (yaml.YAMLError, ValueError) as error:
        raise ConfigError(f"{path} is not valid YAML: {_yaml_problem(error)}") from error
    if values is None:
        return {}
    if not isinstance(values, dict):
        raise ConfigError(f"{path} must hold lines such as 'parts: 8'")
    return {str(name).replace("-", "_"): value for name, value in values.items()}


def _unique_keys(yaml: Any) -> Any:
    """Return a safe loader that refuses a key that is there twice: one of them would be lost."""

    class Loader(yaml.SafeLoader):
        def construct_mapping(self, node: Any, deep: bool = False) -> Any:
            keys = [self.construct_object(key, deep=True) for key, _ in node.value]
            for place, key in enumerate(keys):
                if key in keys[:place]:
                    mark = node.value[place][0].start_mark
                    raise yaml.MarkedYAMLError(problem=f"'{key}' is there twice", problem_mark=mark)
            return super().construct_mapping(node, deep)

    return Loader


def _yaml_problem(error: Exception) -> str:
    """Return what is wrong, and where if that is known, in one line."""
    mark = getattr(error, "problem_mark", None)
    problem = getattr(error, "problem", None) or str(error).splitlines()[0]
    return problem if mark is None else f"{problem} (line {mark.line + 1})"
