"""The numbers of the method: what one may vary to see what a step is worth.

They are values that go through describing, fitting and labelling, are saved with what was made by
them (store, model file, ``run.json``), and are part of what makes two descriptions the same. The
defaults suit photos of any one kind; how they were found is told in the documentation of the
stages.
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from typing import Annotated, Any

from annotated_types import Interval

# Not as text, as elsewhere: older pydantic would look for these names where `Options` is.
Share = Annotated[float, Interval(ge=0, le=1)]
# Bounded: beyond these, equations become singular and exponentials overflow.
NotNegative = Annotated[float, Interval(ge=0, le=1e6)]
Positive = Annotated[float, Interval(ge=1e-3, le=1e6)]
Count = Annotated[int, Interval(ge=1)]


def _number(default: Any, describing: bool = False) -> Any:
    return field(default=default, metadata={"describing": describing})


@dataclass(frozen=True, kw_only=True)
class Method:
    """Every number of the method that decides the parts; none depends on a data set.

    Attributes
    ----------
    border
        Width of the band around an image that is mostly background, as a share of each side, in
        (0, 0.5].
    border_neighbours
        Share, in (0, 1], of the band's patches that a patch is compared with: the most similar.
    lattice
        Cells a side of a square image: 32 are one patch of 14 pixels each, at 448.
    side_weight
        What the odd part of the features counts with ``--symmetry apart``; 1 is as the network
        gives it. At 5, the ears and most brows of real faces are apart, but only 28% of the eyes;
        at 8, 40% of them.
    object_contrast, background_contrast
        In standard deviations of an image's contrast: a region above the first is an example of
        the object, one below the second of the background, in between it is neither.
    foreground_penalty
        Inverse strength of the L2 penalty on the mean loss of the classifier, for features of unit
        variance, above 0.
    foreground_rounds
        How often the classifier learns anew from the objects that it has found, each cut out of its
        photo by the photo's own colours and edges; 0 neither learns again nor cuts out.
    first_guess_kept
        Share, in [0, 1], of the first guess that rounds must keep. Most do, and find the more for
        being free of it; on some collections they drift, and birds shrink to their bodies.
    first_guess_weight
        What the first guess counts, in [0, 1], beside what is learnt in a round, where they do not.
    open_cells
        How many cells from the outline, to either side, are open when an object is cut out.
    appearance_weight
        What the classifier's log-odds count there against those of the photo's own colours, above
        0.
    colour_width
        Colours that differ by this much in CIELAB are alike by 1 / sqrt(e); in lightness, two
        thirds of it. In [1, 200].
    colour_weight
        The most that a colour's log-odds count for or against the object, above 0.
    cut_reach
        How much a border without any boundary binds two cells when an object is cut out: log-odds
        of a cell that borders along all of one side.
    least_piece
        The least share of an object, in [0, 1], that a piece or a hole of it can be.
    least_object
        The least share of an image, in [0, 1], that can be its object.
    reach
        How much a border without any boundary binds two cells, against a cell's own feature; 0
        does not smooth.
    strength
        A boundary of this strength binds 1 / e as much as none; of the boundary map, above 0.
    longest_axis
        The longest that an axis of the features can be, in standard deviations of the median one,
        above 0: longer ones are scaled down to it, so that a few do not decide alone.
    centring
        Share, in [0, 1], of an image's own mean that is removed from its features. All of it would
        lose what the parts that an image shows have in common: the front of a car seen from the
        front.
    dimensions
        Principal directions that are kept.
    codebooks
        How many there are, whose cuts are to agree.
    codebook, codebook_per_part
        Small clusters of each: so many, or so many a part where that is more.
    codebook_cells
        The most cells that each is made of.
    centroids, centroids_per_part
        Directions that all parts have together, by which cells are labelled: so many, or so many a
        part where that is more.
    affinity
        Directions whose cosine is lower by this much are alike 1 / e as much (normalised cut of Shi
        & Malik, 2000), above 0.
    shared
        Images that a part is in at least, if there are so many; 0 or 1 allows parts of one image.
    temperature
        Sharpness of the confidence: a score that is lower by this much counts 1 / e, above 0.
    border_blur
        Standard deviation, in cells, of the Gaussian that smooths the borders between parts; 0 does
        not. In [0, 10].
    """

    __pydantic_config__ = {"extra": "forbid"}  # noqa: RUF012  # of pydantic, no field

    border: Annotated[float, Interval(gt=0, le=0.5)] = _number(0.1, describing=True)
    border_neighbours: Annotated[float, Interval(gt=0, le=1)] = _number(0.03, describing=True)
    lattice: Count = _number(32, describing=True)
    side_weight: NotNegative = _number(5.0, describing=True)
    object_contrast: float = _number(1.0)
    background_contrast: float = _number(0.5)
    foreground_penalty: Positive = _number(250.0)
    foreground_rounds: Annotated[int, Interval(ge=0)] = _number(3)
    first_guess_kept: Share = _number(0.8)
    first_guess_weight: Share = _number(0.3)
    open_cells: Count = _number(2)
    appearance_weight: Positive = _number(1.0)
    colour_width: Annotated[float, Interval(ge=1, le=200)] = _number(10.0)
    colour_weight: Positive = _number(1.0)
    cut_reach: NotNegative = _number(1.0)
    least_piece: Share = _number(0.02)
    least_object: Share = _number(0.002)
    reach: NotNegative = _number(40.0)
    strength: Positive = _number(0.4)
    longest_axis: Positive = _number(3.0)
    centring: Share = _number(0.9)
    dimensions: Count = _number(64)
    codebooks: Annotated[int, Interval(ge=1, le=1000)] = _number(64)
    codebook: Annotated[int, Interval(ge=1, le=5000)] = _number(64)
    codebook_per_part: Annotated[int, Interval(ge=1, le=20)] = _number(4)
    codebook_cells: Count = _number(4000)
    centroids: Count = _number(64)
    centroids_per_part: Count = _number(4)
    affinity: Positive = _number(0.15)
    shared: Annotated[int, Interval(ge=0)] = _number(2)
    temperature: Positive = _number(0.1)
    border_blur: Annotated[float, Interval(ge=0, le=10)] = _number(0.1)

    @property
    def describing(self) -> dict[str, Any]:
        """The numbers that decide a description; the others only what is made of descriptions."""
        return {f.name: getattr(self, f.name) for f in fields(self) if f.metadata["describing"]}

    @property
    def values(self) -> dict[str, Any]:
        """Every number by name."""
        return asdict(self)

    @property
    def changed(self) -> dict[str, Any]:
        """The numbers that are not the default."""
        return {f.name: v for f in fields(self) if (v := getattr(self, f.name)) != f.default}

    def codebook_size(self, num_parts: int) -> int:
        """Return how many small clusters a codebook has that K parts are made of."""
        return max(self.codebook, self.codebook_per_part * num_parts)

    def num_centroids(self, num_parts: int) -> int:
        """Return how many centroids K parts have together."""
        return max(self.centroids, self.centroids_per_part * num_parts)


DEFAULT_METHOD = Method()

# Of Part-DINO 0.1, whose files do not hold them: whatever becomes the default, these stay.
METHOD_OF_0_1: Mapping[str, Any] = {
    "border": 0.1,
    "border_neighbours": 0.03,
    "lattice": 32,
    "side_weight": 5.0,
    "object_contrast": 1.0,
    "background_contrast": 0.5,
    "foreground_penalty": 250.0,  # it was 600, and features were not brought to unit variance
    "foreground_rounds": 0,
    "first_guess_kept": 0.8,
    "first_guess_weight": 0.3,
    "open_cells": 2,
    "appearance_weight": 1.0,
    "colour_width": 10.0,
    "colour_weight": 1.0,
    "cut_reach": 1.0,
    "least_piece": 0.02,
    "least_object": 0.002,
    "reach": 40.0,
    "strength": 0.4,
    "longest_axis": 1e6,
    "centring": 0.9,
    "dimensions": 64,
    "codebooks": 1,
    "codebook": 128,
    "codebook_per_part": 2,
    "codebook_cells": 100_000,
    "centroids": 128,
    "centroids_per_part": 2,
    "affinity": 0.15,
    "shared": 2,
    "temperature": 0.1,
    "border_blur": 0.0,
}
