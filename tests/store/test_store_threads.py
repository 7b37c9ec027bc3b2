"""Stores are the same bytes wherever they are computed, however many threads a process may have.

The other tests hold their process to one thread.
"""

from __future__ import annotations

import pytest
from segment_runs import content, files, flags, process
from threadpoolctl import threadpool_limits

from partdino.runs.store import merge_stores


def blocks(store) -> dict[str, bytes]:
    return content(store / "blocks")


@pytest.fixture
def store_of(photo_folder, tmp_path, monkeypatch):
    """Make a store of four photos, by a process of its own with four threads."""
    for library in ("OPENBLAS", "OMP", "MKL"):
        monkeypatch.setenv(f"{library}_NUM_THREADS", "4")
    photos = [photo_folder / name for name in files(photo_folder)[:4]]
    small = flags({"backbone": "efficientnet-lite2", "boundaries": "none", "region_size": 128})

    def run(name: str, *options: object):
        child = process("features", *photos, "--out", tmp_path / name, *small, *options)
        _, stderr = child.communicate()
        assert child.returncode == 0, stderr
        return tmp_path / name

    return run


def test_workers_make_the_store_that_the_main_process_makes(store_of):
    assert blocks(store_of("here", "--workers", 0)) == blocks(store_of("there", "--workers", 2))


def test_shards_with_many_threads_make_the_store_of_one_thread(features, store, tmp_path):
    shards = [tmp_path / name for name in "12"]
    with threadpool_limits(4):
        for number, shard in enumerate(shards, 1):
            assert features(shard, "--shard", f"{number}/2").code == 0
    merge_stores(tmp_path / "merged", shards)
    assert blocks(tmp_path / "merged") == blocks(store)
