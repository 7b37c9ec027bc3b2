"""Measure the clustering against scikit-learn and, if it is installed, faiss; prints tables.

    python scripts/bench_clustering.py STORE

All cluster the same vectors by the cosine, as many as `partdino fit` holds at most: smoothed cells
of the images of a feature store, centred, projected and scaled to unit length, each counting once.
STORE may also be a .npy file of such vectors. Every run is a process of its own with one thread.

- Methods: the mean cosine of the vectors with the nearest centroid (higher is better), mean and
  lowest of the seeds; processor time; memory beyond that of the libraries, in which the vectors
  are but for "sample, 5 passes", which reads them piece by piece.
- Vectors, Clusters: processor time against their numbers.

"full batch" is what `partdino fit` does with its sample. "sample, 5 passes" is what it does with
`--fit-on all`: here from a tenth of the vectors. Works on Linux only, whose /proc it reads.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial, reduce
from importlib.util import find_spec
from operator import add
from pathlib import Path
from statistics import mean
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from partdino.parts.kmeans import ClusterSums

_PIECE = 4096  # vectors


def main() -> None:
    """Run the measurements that the command line asks for."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("store", type=Path, help="feature store, or .npy file")
    parser.add_argument("--clusters", type=int, default=128)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--run", nargs=3, help=argparse.SUPPRESS)  # one run: see `measure`
    arguments = parser.parse_args()
    if arguments.run is not None:
        print(json.dumps(cluster(arguments.store, *arguments.run)))
        return
    with TemporaryDirectory(prefix="partdino-bench-") as work:
        file = Path(work) / "vectors.npy"
        vectors = load(arguments.store)
        np.save(file, vectors)
        print(f"{len(vectors)} vectors of {vectors.shape[1]} dimensions, one thread")
        print_methods(file, arguments.clusters, arguments.seeds)
        print_vectors(file, vectors, arguments.clusters)
        print_clusters(file, arguments.clusters)


def load(path: Path) -> np.ndarray:
    """Return unit vectors (N, P) of a store in random order, or those of a file."""
    if path.suffix == ".npy":
        return np.load(path)
    from partdino.parts.fitting import MAX_CELLS
    from partdino.parts.projection import ObjectCells, fit_projection
    from partdino.parts.smoothing import smooth_cells
    from partdino.runs.store import open_stores

    store = open_stores([path])
    rng = np.random.default_rng(0)
    images = []
    for key in store.keys:
        description = store.read(key, pixels=False)
        features = smooth_cells(description, np.ones(len(description.areas), bool))
        chosen = rng.permutation(len(features))[: MAX_CELLS // len(store.keys)]
        images.append(ObjectCells.whole(features, description.areas).take(chosen))
    projection = fit_projection(images)
    vectors = np.concatenate([projection.points_of(cells) for cells in images])
    return rng.permutation(vectors).astype(np.float32)


def full_batch(file: Path, clusters: int, seed: int) -> np.ndarray:
    """Cluster all vectors in memory as `partdino fit` does."""
    from partdino.parts.kmeans import spherical_kmeans

    vectors = np.load(file).astype(np.float64)
    return spherical_kmeans(vectors, np.ones(len(vectors)), clusters, seed, restarts=1)[0]


def in_passes(file: Path, clusters: int, seed: int) -> np.ndarray:
    """Cluster a tenth of the vectors, then go over all of them as `partdino fit --fit-on all`."""
    from partdino.parts.codebook import PartClusters
    from partdino.parts.fitting import PASSES
    from partdino.parts.kmeans import spherical_kmeans

    vectors = np.load(file, mmap_mode="r")
    sample = np.array(vectors[seed % 10 :: 10], np.float64)
    ones = np.ones(len(sample))
    directions = spherical_kmeans(sample, ones, clusters, seed, restarts=1)[0]
    one = np.zeros(len(directions), np.int64)
    parts = PartClusters(None, None, directions.astype(np.float32), one, 0.0)
    for _ in range(PASSES):
        parts = parts.refined(total(pieces(file), parts.centroids.astype(np.float64)))
    return parts.centroids


def pieces(file: Path) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Yield vectors and their weights, from a file that is read piece by piece."""
    total = len(np.load(file, mmap_mode="r"))
    for start in range(0, total, _PIECE):
        # Opened anew: what was read of an open map stays in memory.
        piece = np.array(np.load(file, mmap_mode="r")[start : start + _PIECE], np.float64)
        yield piece, np.ones(len(piece))


def total(pieces: Iterator[tuple[np.ndarray, np.ndarray]], directions: np.ndarray) -> ClusterSums:
    """Return what a pass over all pieces learns about clusters."""
    from partdino.parts.kmeans import ClusterSums

    return reduce(add, (ClusterSums.of(*piece, directions) for piece in pieces))


def scikit_learn(name: str, file: Path, clusters: int, seed: int) -> np.ndarray:
    """Cluster by one of scikit-learn's classes."""
    import sklearn.cluster

    kind = getattr(sklearn.cluster, name)
    return kind(clusters, n_init=1, random_state=seed).fit(np.load(file)).cluster_centers_


def faiss(file: Path, clusters: int, seed: int) -> np.ndarray:
    """Cluster by faiss, all vectors and with its usual number of iterations."""
    from faiss import Kmeans

    vectors = np.load(file)
    most = len(vectors)  # of a cluster: else it takes a sample
    kmeans = Kmeans(
        vectors.shape[1], clusters, spherical=True, seed=seed, max_points_per_centroid=most
    )
    kmeans.train(vectors)
    return kmeans.centroids


METHODS: dict[str, Callable[[Path, int, int], np.ndarray]] = {
    "full batch": full_batch,
    "sample, 5 passes": in_passes,
    "scikit-learn KMeans": partial(scikit_learn, "KMeans"),
    "scikit-learn MiniBatchKMeans": partial(scikit_learn, "MiniBatchKMeans"),
}
if find_spec("faiss"):
    METHODS["faiss Kmeans"] = faiss


def measure(file: Path, method: str, clusters: int, seed: int = 0) -> dict[str, float]:
    """Return what `cluster` returns, in a fresh process."""
    command = [sys.executable, __file__, file, "--run", method, clusters, seed]
    print(f"{file.stem}: {method}, {clusters} clusters ...", file=sys.stderr)
    done = subprocess.run(
        [str(word) for word in command],
        env={**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"},
        stdout=subprocess.PIPE,
        check=True,
    )
    return json.loads(done.stdout)


def cluster(file: Path, method: str, clusters: str, seed: str) -> dict[str, float]:
    """Cluster the vectors of a file; return mean cosine, processor seconds and MB."""
    with TemporaryDirectory(prefix="partdino-bench-") as work:
        few = Path(work) / "few.npy"  # all libraries are loaded, and compiled, before the start
        np.save(few, np.random.default_rng(0).normal(size=(400, 8)).astype(np.float32))
        METHODS[method](few, 2, 0)
    resident, start = memory("VmRSS"), time.process_time()
    centroids = METHODS[method](file, int(clusters), int(seed))
    seconds, peak = time.process_time() - start, memory("VmHWM")
    centroids = centroids / np.linalg.norm(centroids, axis=1, keepdims=True)
    cosines = [(piece @ centroids.T).max(axis=1).sum() for piece, _ in pieces(file)]
    objective = sum(cosines) / len(np.load(file, mmap_mode="r"))
    return {"cosine": float(objective), "seconds": seconds, "megabytes": peak - resident}


def memory(name: str) -> float:
    """Return a figure of this process's memory in MB."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) / 1024 for line in lines if line.startswith(name))


def print_methods(file: Path, clusters: int, seeds: int) -> None:
    """Print the table of objective, time and memory."""
    runs = {
        method: [measure(file, method, clusters, seed) for seed in range(seeds)]
        for method in METHODS
    }
    averages = {
        method: {name: mean(run[name] for run in of_method) for name in of_method[0]}
        for method, of_method in runs.items()
    }
    ours = averages["full batch"]
    rows = [
        (
            method,
            f"{average['cosine']:.4f}",
            f"{min(run['cosine'] for run in runs[method]):.4f}",
            f"{average['cosine'] / ours['cosine'] - 1:+.2%}",
            f"{average['seconds']:.1f}",
            f"{average['seconds'] / ours['seconds']:.2f}",
            f"{average['megabytes']:.0f}",
        )
        for method, average in averages.items()
    ]
    titles = ("method", "mean cosine", "lowest", "to full batch", "CPU s", "ratio", "MB")
    print_table(f"Methods: {clusters} clusters, {seeds} seeds", titles, rows)


def print_vectors(file: Path, vectors: np.ndarray, clusters: int) -> None:
    """Print the table of time against the number of vectors."""
    rows = []
    for share in (8, 4, 2, 1):
        fewer = file.with_name(f"vectors-{share}.npy")
        np.save(fewer, vectors[: len(vectors) // share])
        rows.append((f"{len(vectors) // share}", *seconds_of_all(fewer, clusters)))
    print_table(f"Vectors: CPU s with {clusters} clusters", ("vectors", *METHODS), rows)


def print_clusters(file: Path, clusters: int) -> None:
    """Print the table of time against the number of clusters."""
    numbers = [clusters // 4, clusters // 2, clusters, clusters * 2]
    rows = [(f"{number}", *seconds_of_all(file, number)) for number in numbers]
    print_table("Clusters: CPU s with all vectors", ("clusters", *METHODS), rows)


def seconds_of_all(file: Path, clusters: int) -> list[str]:
    """Return the processor time of every method."""
    return [f"{measure(file, method, clusters)['seconds']:.1f}" for method in METHODS]


def print_table(title: str, titles: Sequence[str], rows: Sequence[Sequence[Any]]) -> None:
    """Print a table in Markdown."""
    print(f"\n{title}\n")
    for row in (titles, ["---"] * len(titles), *rows):
        print(f"| {' | '.join(row)} |", flush=True)


if __name__ == "__main__":
    main()
