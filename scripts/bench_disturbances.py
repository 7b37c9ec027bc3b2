"""What becomes of the parts when the features of a network are disturbed as other networks' are.

    python scripts/bench_disturbances.py data/samples/birds

Every number of the method was found on one network. The features of others have a common mean, axes
much longer than the rest, patches that are unlike all else. Each disturbance is given to the
features of some photos, fixed by a random state; then parts are found anew. Prints the mean cosine
of two patches of the collection, and how far what is found agrees with what the features give as
they are: the parts by the adjusted Rand index of the pixels that are object to both, the foreground
by intersection over union, mean over the photos. What another seed alone changes stands beside it.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from partdino.describe.description import ImageDescription
from partdino.describe.settling import settle
from partdino.describe.source import Source
from partdino.describe.stages import Intermediate, cut, decode, detect, extract, pool_image
from partdino.describe.vectors import normalise
from partdino.images.find import search_images
from partdino.metrics import ari_from_contingency, contingency_table
from partdino.options import SettledOptions, validate
from partdino.parts.fitting import fit_model
from partdino.parts.labelling import label_pixels

Disturbance = Callable[[np.ndarray, np.random.Generator], np.ndarray]


def rotated(tokens: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Turn and scale all tokens alike."""
    turn, _ = np.linalg.qr(rng.normal(size=(tokens.shape[1],) * 2))
    return 7.0 * tokens @ turn


def with_common_mean(tokens: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Add the same vector to all tokens, three times as long as they are."""
    direction = rng.normal(size=tokens.shape[1])
    length = 3.0 * np.sqrt((tokens**2).sum(axis=1).mean())
    return tokens + length * direction / np.linalg.norm(direction)


def with_uneven_axes(tokens: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Scale each axis by a log-normal factor of sigma 1."""
    return tokens * rng.lognormal(sigma=1.0, size=tokens.shape[1])


def with_massive_axes(tokens: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Scale three axes by 12."""
    factors = np.ones(tokens.shape[1])
    factors[rng.choice(len(factors), 3, replace=False)] = 12.0
    return tokens * factors


def with_outliers(tokens: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Put something else, ten times as long, in the place of 5% of the tokens."""
    chosen = rng.random(len(tokens)) < 0.05
    others = normalise(rng.normal(size=(chosen.sum(), tokens.shape[1])))
    disturbed = tokens.copy()
    disturbed[chosen] = 10.0 * others * np.linalg.norm(tokens[chosen], axis=1)[:, None]
    return disturbed


DISTURBANCES: Mapping[str, Disturbance] = {
    "rotation, scaling": rotated,
    "common mean added": with_common_mean,
    "log-normal axes (sigma 1)": with_uneven_axes,
    "three axes times 12": with_massive_axes,
    "5% outlier patches": with_outliers,
}


class Described(dict[str, ImageDescription]):
    """Descriptions in memory, as `partdino.parts.fitting.Descriptions`."""

    def read(self, key: str, pixels: bool = True) -> ImageDescription:
        """Return a description."""
        return self[key]

    def part(self, keys: Sequence[str]) -> Described:
        """Return all."""
        return self


def photos_of(
    folder: Path, number: int, parts: int, **given: Any
) -> tuple[list[Intermediate], SettledOptions]:
    """Take the first photos of a folder through the stages up to pooling."""
    backbone, options, _ = settle(validate({"parts": parts, "device": "cpu", **given}))
    photos = []
    for file in search_images([folder])[0][:number]:
        source = Source(file.name, file.path)
        photo = decode(source, options, options.image_size, backbone.patch_size)
        (photo,) = detect([photo], options)
        photos += extract([cut(photo, options)], backbone, with_mirrored=False)
    return photos, options


def disturbed(
    photos: Sequence[Intermediate], disturbance: Disturbance, state: int = 0
) -> list[Intermediate]:
    """Return the photos with other features."""
    grids = [photo.features for photo in photos]
    tokens = np.concatenate([grid.reshape(-1, grid.shape[-1]) for grid in grids])
    tokens = disturbance(tokens.astype(np.float64), np.random.default_rng(state))
    ends = np.cumsum([grid[..., 0].size for grid in grids])[:-1]
    pairs = zip(photos, np.split(tokens.astype(np.float32), ends), strict=True)
    return [replace(photo, features=own.reshape(photo.features.shape)) for photo, own in pairs]


def find_parts(
    photos: Sequence[Intermediate], options: SettledOptions, parts: int, seed: int = 0
) -> list[np.ndarray]:
    """Return the label map of each photo, at the size that regions are made at."""
    described = Described(
        {str(place): pool_image(photo, options, False) for place, photo in enumerate(photos)}
    )
    options = replace(options, seed=seed)
    model = fit_model(described, list(described), parts, options, weights_sha256="")
    return [label_pixels(each, model).part for each in described.values()]


def patch_cosine(photos: Sequence[Intermediate]) -> float:
    """Return the mean cosine of two patches of a collection."""
    dim = photos[0].features.shape[-1]
    means = [normalise(photo.features).reshape(-1, dim).mean(axis=0) for photo in photos]
    return float((np.mean(means, axis=0) ** 2).sum())


def agreements(first: Sequence[np.ndarray], second: Sequence[np.ndarray]) -> tuple[float, float]:
    """Return the adjusted Rand index of the parts, and the foregrounds' intersection over union."""
    pair = (np.concatenate([each.ravel() for each in maps]) for maps in (first, second))
    parts = ari_from_contingency(contingency_table(*pair)[1:, 1:])
    found = [(a > 0, b > 0) for a, b in zip(first, second, strict=True)]
    overlaps = [(a & b).sum() / max((a | b).sum(), 1) for a, b in found]
    return parts, float(np.mean(overlaps))


def main() -> None:
    """Disturb, find parts, and print the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("photos", type=Path, help="folder of photos")
    parser.add_argument("--number", type=int, default=12, help="how many of them")
    parser.add_argument("--parts", type=int, default=6)
    parser.add_argument("--draws", type=int, default=3, help="of each disturbance, and seeds")
    arguments = parser.parse_args()
    photos, options = photos_of(arguments.photos, arguments.number, arguments.parts)
    plain = find_parts(photos, options, arguments.parts)
    print("| disturbance | patch cosine | parts ARI | foreground IoU |\n|---|---:|---:|---:|")
    seeds = range(1, arguments.draws + 1)
    others = [find_parts(photos, options, arguments.parts, seed) for seed in seeds]
    print(line("none, another seed", patch_cosine(photos), [agreements(plain, o) for o in others]))
    for name, disturbance in DISTURBANCES.items():
        draws = [disturbed(photos, disturbance, state) for state in range(arguments.draws)]
        found = [find_parts(each, options, arguments.parts) for each in draws]
        cosine = float(np.mean([patch_cosine(each) for each in draws]))
        print(line(name, cosine, [agreements(plain, each) for each in found]), flush=True)


def line(name: str, cosine: float, agreed: Sequence[tuple[float, float]]) -> str:
    """Return a line of the table in Markdown."""
    parts, foreground = np.mean(agreed, axis=0)
    return f"| {name} | {cosine:.2f} | {parts:.2f} | {foreground:.2f} |"


if __name__ == "__main__":
    main()
