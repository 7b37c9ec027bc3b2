"""The same seed gives the same bytes, however the run is organised."""

from __future__ import annotations

import pytest
import torch
from segment_runs import label_bytes
from threadpoolctl import threadpool_limits


@pytest.mark.parametrize(("batch_size", "workers"), [(8, 0), (1, 0), (3, 0), (1, 2), (8, 2)])
def test_labels_are_identical_for_any_batch_size_and_workers(
    segment, photo_folder, finished_run, tmp_path, batch_size, workers
):
    result = segment(photo_folder, tmp_path, batch_size=batch_size, workers=workers)
    assert result.code == 0, result.stderr
    assert label_bytes(tmp_path) == label_bytes(finished_run)
    for name in ("coco.json", "parts.csv", "parts.safetensors"):
        assert (tmp_path / name).read_bytes() == (finished_run / name).read_bytes()


def test_labels_and_model_are_identical_for_any_number_of_threads(
    segment, photo_folder, finished_run, tmp_path
):
    torch.set_num_threads(2)
    try:
        with threadpool_limits(2):
            assert segment(photo_folder, tmp_path).code == 0
    finally:
        torch.set_num_threads(1)
    assert label_bytes(tmp_path) == label_bytes(finished_run)
    model = "parts.safetensors"
    assert (tmp_path / model).read_bytes() == (finished_run / model).read_bytes()


def test_labels_do_not_depend_on_how_the_photos_are_named_to_the_command(
    segment, photo_folder, finished_run, tmp_path
):
    names = sorted(path.name for path in photo_folder.iterdir())
    (tmp_path / "photos.txt").write_text("\n".join(str(photo_folder / n) for n in reversed(names)))
    assert segment(tmp_path / "photos.txt", tmp_path / "out").code == 0
    assert label_bytes(tmp_path / "out") == label_bytes(finished_run)


def test_another_seed_is_another_clustering(segment, photo_folder, finished_run, tmp_path):
    models = []
    for seed in (1, 1):
        out = tmp_path / f"{len(models)}"
        assert segment(photo_folder, out, parts=20, seed=seed).code == 0
        models.append((out / "parts.safetensors").read_bytes())
    assert segment(photo_folder, tmp_path / "other", parts=20, seed=2).code == 0
    assert models[0] == models[1] != (tmp_path / "other" / "parts.safetensors").read_bytes()
