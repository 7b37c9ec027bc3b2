"""A finished run as the review reads it: measures, what to look at, pictures."""

from __future__ import annotations

import io
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from review_runs import NAMES, stripes, write_run

from partdino.errors import InputError, OutputError
from partdino.runs.review import PartReview, Review
from partdino.runs.review.finished import IndexedRun, open_run
from partdino.runs.review.pictures import EXAMPLE, example_jpeg, labels_png, photo_jpeg
from partdino.runs.review.summary import PartsOfPhotos, included, what_to_look_at

NOTHING = Review("")  # is said


def decoded(content: bytes | None) -> np.ndarray:
    assert content is not None
    return np.asarray(Image.open(io.BytesIO(content)))


def test_a_run_is_read(run: IndexedRun):
    assert list(run.names) == list(NAMES) and run.num_parts == 4
    assert run.area[0] == pytest.approx(15 * 40 / (60 * 90), rel=1e-4)
    assert run.area[2].tolist()[3] == 0 and (run.area[-1] == 0).all()
    assert run.size(5) == (60, 90) and run.without_pieces == []


def test_names_that_a_spreadsheet_would_run_are_found(tmp_path: Path):
    run = open_run(write_run(tmp_path, ["=1+1.jpg", "b.jpg"]))
    assert run.area[0].sum() > 0


@pytest.mark.parametrize("name", ["run.json", "results.jsonl"])
def test_what_is_no_finished_run_is_named(own_folder: Path, name: str):
    (own_folder / name).unlink()
    with pytest.raises((InputError, OutputError), match="out"):
        open_run(own_folder)


def test_an_unfinished_run_is_named(own_folder: Path):
    (own_folder / ".partdino").mkdir()
    with pytest.raises(InputError, match="unfinished"):
        open_run(own_folder)


def test_a_damaged_table_is_named(own_folder: Path):
    (own_folder / "parts.csv").write_text("image,part,area_fraction\nno.jpg,1,0.5\n")
    with pytest.raises(InputError, match="missing or damaged"):
        _ = open_run(own_folder).area


def test_merged_parts_are_measured_together(run: IndexedRun):
    review = Review("", parts={2: PartReview(merged_into=1), 3: PartReview(background=True)})
    parts = PartsOfPhotos.of(run, review)
    assert [part.members for part in parts.parts] == [(1, 2), (4,)]
    assert parts.area[0] == pytest.approx([1200 / 5400, 600 / 5400], rel=1e-4)
    assert parts.confidence[0] == pytest.approx([0.5, 0.5], rel=1e-5)
    assert parts.confidence[2, 1] == 0


def test_examples_are_the_most_typical_then_the_least(run: IndexedRun):
    review = Review("", photos={NAMES[10]: "excluded"})
    typical, odd = PartsOfPhotos.of(run, review).examples(0, included(run, review))
    assert typical == [9, 8, 7, 6, 5, 4, 3, 2]
    assert odd == [0, 1]


def test_what_to_look_at_says_why(run: IndexedRun):
    review = Review("", parts={4: PartReview(name="tail")})
    listed = dict(what_to_look_at(run, PartsOfPhotos.of(run, review)))
    assert listed[11] == ["no object was found"]
    assert "tail is missing" in listed[2]
    assert listed[0] == ["among the least sure"]
    assert 7 not in listed


def test_an_odd_size_is_seen(tmp_path: Path):
    def draw(index: int) -> np.ndarray:
        labels = np.zeros((60, 90), np.uint8)
        labels[:, : 40 + index % 3] = 1
        labels[:, 80 if index == 4 else 50 + index % 2 :] = 2
        return labels

    run = open_run(write_run(tmp_path, [f"{index}.jpg" for index in range(13)], draw))
    listed = dict(what_to_look_at(run, PartsOfPhotos.of(run, Review(""))))
    assert listed[4] == ["part 1 has an odd size", "part 2 has an odd size"]


def test_objects_in_pieces_and_unsure_outlines_are_seen(run: IndexedRun):
    said = [replace(i, object_pieces=1, foreground_confidence=0.9) for i in run.images]
    for index in range(len(said)):
        said[index] = replace(said[index], foreground_confidence=0.9 + index % 3 / 100)
    said[3] = replace(said[3], object_pieces=3)
    said[4] = replace(said[4], foreground_confidence=0.4)
    said[5] = replace(said[5], object_pieces=None, foreground_confidence=None)
    told = replace(run, images=said)
    before = dict(what_to_look_at(run, PartsOfPhotos.of(run, NOTHING)))
    listed = dict(what_to_look_at(told, PartsOfPhotos.of(told, NOTHING)))
    assert listed.pop(3) == ["its object is in 3 pieces"]
    assert listed.pop(4) == ["its outline is unsure"]
    assert listed == before


def test_label_maps_travel_as_grey(run: IndexedRun):
    whole = Image.open(io.BytesIO(labels_png(run, NOTHING, 0, whole=True)))
    assert whole.mode == "L" and (np.asarray(whole) == stripes(0, None)).all()
    small = decoded(labels_png(run, NOTHING, 0, whole=False))
    assert small.shape == decoded(photo_jpeg(run, 0, whole=False)).shape[:2] == (213, 320)
    assert set(np.unique(small)) == {0, 1, 2, 3, 4}


def test_a_photo_that_is_gone_is_none(own_folder: Path):
    run = open_run(own_folder)
    Path(run.images[0].photo).unlink()
    assert photo_jpeg(run, 0, whole=True) is None
    assert example_jpeg(run, NOTHING, 0, (1,), "#ff0000") is None


def test_an_example_shows_all_members(run: IndexedRun):
    example = decoded(example_jpeg(run, NOTHING, 0, (1, 2), "#ff0000"))
    assert max(example.shape) == EXAMPLE
    red = (example[..., 0] > 180) & (example[..., 1] < 90)
    assert red.any()
    assert example_jpeg(run, NOTHING, 2, (4,), "#ff0000") is None
