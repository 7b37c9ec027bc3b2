from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from partdino.runs.writers import CURRENT_FILE, OutputWriters, contact_sheet

WHOLE_RUN = {"coco.json", "parts.csv", "contact_sheet.jpg"}


def _files(out: Path) -> dict[str, bytes]:
    return {
        path.relative_to(out).as_posix(): path.read_bytes()
        for path in out.rglob("*")
        if path.is_file()
    }


def _add(writers: OutputWriters, make_result, make_photo, count: int = 5) -> None:
    for index in range(count):
        writers.add(make_result(f"d {index % 2}/{index}.jpg", seed=index), make_photo(seed=index))


def test_the_same_results_give_the_same_bytes(make_result, make_photo, tmp_path: Path) -> None:
    for out in (tmp_path / "one", tmp_path / "two"):
        writers = OutputWriters(out)
        _add(writers, make_result, make_photo)
        writers.close()
    one = _files(tmp_path / "one")
    assert one == _files(tmp_path / "two")
    per_image = {
        f"{kind}/d {i % 2}/{i}.jpg{suffix}"
        for kind, suffix in (("labels", ".png"), ("overlays", ".jpg"))
        for i in range(5)
    }
    assert set(one) == WHOLE_RUN | per_image


def test_files_of_the_whole_run_appear_only_when_it_is_complete(
    make_result, make_photo, tmp_path: Path
) -> None:
    writers = OutputWriters(tmp_path)
    _add(writers, make_result, make_photo)
    del writers  # what a crash leaves
    folders = {name.split("/")[0] for name in _files(tmp_path)}
    assert folders - {CURRENT_FILE} == {"labels", "overlays"}


def test_a_failure_while_finishing_leaves_no_half_file(
    make_result, make_photo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    writers = OutputWriters(tmp_path)
    _add(writers, make_result, make_photo)

    def fail(*_: object, **__: object) -> None:
        raise RuntimeError("out of memory")

    monkeypatch.setattr(contact_sheet.sheet.Image.Image, "save", fail)
    with pytest.raises(RuntimeError):
        writers.close()
    assert "contact_sheet.jpg" not in _files(tmp_path)
    assert not list(tmp_path.rglob(".partdino-*"))


def test_a_run_without_results_closes(tmp_path: Path) -> None:
    OutputWriters(tmp_path).close()
    assert set(_files(tmp_path)) == {"coco.json", "parts.csv"}
    coco = json.loads((tmp_path / "coco.json").read_bytes())
    assert coco["images"] == coco["annotations"] == coco["categories"] == []


def test_a_reduced_decode_of_a_grey_photo_is_enough(make_result, tmp_path: Path) -> None:
    writers = OutputWriters(tmp_path)
    writers.add(make_result("big.tif", (400, 600)), np.full((40, 60, 3), 99, np.uint8))
    writers.close()
    with Image.open(tmp_path / "labels" / "big.tif.png") as image:
        assert image.size == (600, 400)
