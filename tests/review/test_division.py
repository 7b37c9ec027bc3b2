"""Photos mended and parts split: what label maps, areas and means follow."""

from __future__ import annotations

import io
import json
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from review_runs import NAMES, SHA256, pieces, stripes, write_run

from partdino.errors import ReviewError
from partdino.runs.review import (
    Division,
    Mend,
    PartReview,
    Review,
    Split,
    changed,
    cut_in_two,
    label_lookup,
    read_review,
    reviewed_parts,
    runs_of,
    write_review,
)
from partdino.runs.review.finished import IndexedRun, open_run
from partdino.runs.review.mend import pieces_hash
from partdino.runs.review.pictures import labels_png, pieces_png
from partdino.runs.review.summary import PartsOfPhotos, what_to_look_at
from partdino.runs.writers.pieces import pieces_path

K = 4
SPLIT = {5: Split(2, (3,))}  # the lower half of part 2


def mend(run: IndexedRun, index: int, **masks: np.ndarray) -> dict[str, Mend]:
    """Give masks of a photo to the parts that their names end in."""
    name = run.images[index].name
    content = pieces_path(run.folder, name).read_bytes()
    given = {int(part.strip("_")): runs_of(mask) for part, mask in masks.items()}
    return {name: Mend(pieces_hash(content), (60, 90), given)}


def upper(part: int, index: int) -> np.ndarray:
    labels = stripes(index, None)
    return (labels == part) & (np.indices(labels.shape)[0] < 30)


def test_runs_are_pixels_and_back():
    mask = np.random.default_rng(0).random((7, 9)) < 0.4
    given = Mend("x", (7, 9), {3: runs_of(mask), 0: runs_of(~mask)})
    assert (given.pixels() == np.where(mask, 3, 0)).all()
    assert Mend.of(json.loads(json.dumps(given.document()))) == given
    assert (Mend("x", (7, 9), {3: runs_of(mask)}).pixels() == np.where(mask, 3, -1)).all()


@pytest.mark.parametrize(
    "said",
    [
        {"given": {}},
        {"given": {"1": []}},
        {"given": {"1": [3]}},
        {"given": {"1": [3, 0]}},
        {"given": {"1": [-3, 4]}},
        {"given": {"1": [0, 1, 0, 1]}},
        {"given": {"1": [3, 4.0]}},
        {"given": {"1": [True, 4]}},
        {"given": {"1": [0, 5401]}},
        {"given": {"1": [0, 9], "2": [8, 1]}},
        {"given": {"1": [10**18, 10**18]}},
        {"given": {"6": [0, 9]}},
        {"given": {"-1": [0, 9]}},
        {"size": [0, 90]},
        {"size": [60]},
        {"size": [10**9, 10**9]},
        {"pieces": 5},
        {"path": "/etc/passwd"},
    ],
)
def test_pixels_that_make_no_sense_are_refused(said: dict):
    good = {"pieces": "ab", "size": [60, 90], "given": {"1": [0, 9], "0": [9, 1]}}
    review = changed(Review(""), [{"mended": "a", "said": good}], K, {"a"})
    assert review.document()["mended"] == {"a": good}
    with pytest.raises(ReviewError):
        changed(review, [{"mended": "a", "said": {**good, **said}}], K, {"a"})
    with pytest.raises(ReviewError):
        changed(review, [{"mended": "b", "said": good}], K, {"a"})
    assert changed(review, [{"mended": "a", "said": None}], K, {"a"}).mended == {}


@pytest.mark.parametrize(
    ("number", "said"),
    [
        (4, {"of": 2, "clusters": [3]}),  # is one of the run's own
        (256, {"of": 2, "clusters": [3]}),
        (5, {"of": 5, "clusters": [3]}),
        (5, {"of": 7, "clusters": [3]}),
        (5, {"of": 2, "clusters": []}),
        (5, {"of": 2, "clusters": [3, 2]}),
        (5, {"of": 2, "clusters": [3, 3]}),
        (5, {"of": 2, "clusters": ["3"]}),
        (5, {"of": 2, "clusters": 3}),
        (5, {"of": 2}),
    ],
)
def test_splits_that_make_no_sense_are_refused(number: int, said: dict):
    with pytest.raises(ReviewError):
        changed(Review(""), [{"split": number, "said": said}], K, ())


def test_what_was_cut_off_is_a_part_like_others(tmp_path: Path):
    said = [
        {"split": 5, "said": {"of": 2, "clusters": [3]}},
        {"part": 5, "said": {"name": "belly"}},
        {"split": 6, "said": {"of": 5, "clusters": [3]}},
        {"part": 6, "said": {"merged_into": 1}},
    ]
    review = changed(Review(SHA256), said, K, ())
    write_review(tmp_path, review)
    assert read_review(tmp_path, SHA256, K) == review
    assert [(p.part, p.members, p.name) for p in reviewed_parts(review, K)][-2:] == [
        (4, (4,), "part 4"),
        (5, (5,), "belly"),
    ]
    assert label_lookup(review, K)[:8].tolist() == [0, 1, 2, 3, 4, 5, 1, 0]
    assert review.part_of_clusters(np.array([1, 1, 2, 2])).tolist() == [1, 1, 2, 6]
    with pytest.raises(ReviewError, match="the model lacks"):
        review.part_of_clusters(np.array([1, 1, 2]))
    with pytest.raises(ReviewError, match="something else refers"):
        changed(review, [{"split": 5, "said": None}], K, ())  # it has a name, and 6 is of it


def test_a_part_is_cut_where_its_clusters_differ():
    centroids = np.array([[1, 0], [0.98, 0.2], [0, 1], [0.2, 0.98], [0.9, 0.43]])
    weights = np.array([5, 4, 3, 2, 0])
    ours = np.arange(5)
    assert cut_in_two(ours, centroids, weights).tolist() == [2, 3]
    assert cut_in_two(ours, centroids, np.array([1, 1, 3, 2, 0])).tolist() == [0, 1, 4]
    assert cut_in_two(ours[2:4], centroids, weights).tolist() == [3]
    with pytest.raises(ValueError, match="one small cluster"):
        cut_in_two(ours[3:], centroids, weights)
    with pytest.raises(ValueError, match="all alike"):
        cut_in_two(np.arange(2), np.ones((2, 2)) / np.sqrt(2), np.ones(2))


def test_nothing_said_changes_nothing(run: IndexedRun):
    result = Division(run.folder, Review(SHA256), K).result(run.images[3])
    assert (result.label_map == stripes(3, None)).all() and result.num_parts == K


def test_a_split_divides_every_photo(run: IndexedRun):
    review = Review(SHA256, splits=SPLIT)
    for index in (0, 2, 7):
        labels = stripes(index, 4 if index == 2 else None)
        expected = np.where((labels == 2) & (np.indices(labels.shape)[0] >= 30), 5, labels)
        result = Division(run.folder, review, K).result(run.images[index])
        assert (result.label_map == expected).all() and result.num_parts == 5
        before = run.images[index]
        assert result.confidence.tolist() == pytest.approx(
            [*before.confidence, before.confidence[1]], rel=1e-5
        )


def test_areas_and_means_follow_a_split(run: IndexedRun):
    parts = PartsOfPhotos.of(run, Review(SHA256, splits=SPLIT))
    assert [part.part for part in parts.parts] == [1, 2, 3, 4, 5]
    assert parts.area[0] == pytest.approx(np.array([600, 300, 600, 600, 300]) / 5400, rel=1e-4)
    assert parts.confidence[0] == pytest.approx([0.5] * 5, rel=1e-5)
    assert (parts.area[-1] == 0).all()


def test_a_mended_photo_has_what_it_was_given(run: IndexedRun):
    background = np.zeros((60, 90), bool)
    background[:10, :30] = True
    masks = {"_0": upper(1, 3), "_2": background, "_5": upper(3, 3)}
    review = Review(SHA256, splits=SPLIT, mended=mend(run, 3, **masks))
    labels = stripes(3, None)
    expected = np.where((labels == 2) & (np.indices(labels.shape)[0] >= 30), 5, labels)
    expected[masks["_0"]], expected[masks["_2"]], expected[masks["_5"]] = 0, 2, 5
    result = Division(run.folder, review, K).result(run.images[3])
    assert (result.label_map == expected).all()
    sure = run.images[3].confidence[0]
    # By hand: 1 for sure. Part 2 has 300 pixels of the run and 300 given, part 5 as many.
    half = (sure + 1) / 2
    assert result.confidence.tolist() == pytest.approx([sure, half, sure, sure, half], rel=1e-5)
    parts = PartsOfPhotos.of(run, review)
    assert parts.area[3] * 5400 == pytest.approx([300, 600, 300, 600, 600], rel=1e-4)
    assert parts.confidence[3] == pytest.approx(result.confidence, rel=1e-4)
    other = Division(run.folder, review, K).result(run.images[4]).label_map
    assert (other == 1).sum() == 600


def test_pictures_follow_at_every_size(run: IndexedRun):
    review = Review(SHA256, splits=SPLIT, mended=mend(run, 3, _0=upper(1, 3)))
    whole = np.asarray(Image.open(io.BytesIO(labels_png(run, review, 3, whole=True))))
    assert (whole == Division(run.folder, review, K).result(run.images[3]).label_map).all()
    small = np.asarray(Image.open(io.BytesIO(labels_png(run, review, 3, whole=False))))
    assert set(np.unique(small)) == {0, 1, 2, 3, 4, 5}
    planes = np.array(Image.open(io.BytesIO(pieces_png(run, review, 3) or b"")), int)
    kept = pieces(stripes(3, None))
    assert (planes[..., 0] + 256 * planes[..., 1] == kept.regions).all()
    assert (planes[..., 2] == 5).sum() == 300 and (planes[..., 2] == 1).sum() == 600


def test_halves_are_those_of_merged_parts_too(run: IndexedRun):
    assert run.halves(Review(SHA256), 2) in ([2], [3])
    merged = Review(SHA256, parts={3: PartReview(merged_into=2)})
    assert len(run.halves(merged, 2)) in (1, 2, 3)
    with pytest.raises(ReviewError, match="one small cluster"):
        run.halves(Review(SHA256, splits=SPLIT), 5)


def test_without_what_was_kept_it_is_said(own_folder: Path):
    run = open_run(own_folder)
    split, mended = Review(SHA256, splits=SPLIT), mend(run, 3, _0=upper(1, 3))
    pieces_path(own_folder, NAMES[3]).unlink()
    assert run.without_pieces == [3]
    with pytest.raises(ReviewError, match="1 of 12 photos were labelled with --no-review"):
        run.halves(Review(SHA256), 2)
    for review in (split, Review(SHA256, mended=mended)):
        with pytest.raises(ReviewError, match=r"03.jpg.npz is missing or damaged"):
            Division(own_folder, review, K).result(run.images[3])
    assert pieces_png(run, Review(SHA256), 3) is None
    (own_folder / "parts.safetensors").write_bytes(b"another")
    with pytest.raises(ReviewError, match="put that back"):
        Division(own_folder, split, K).result(run.images[0])


def test_what_was_labelled_anew_is_not_mended_any_more(tmp_path: Path):
    run = open_run(write_run(tmp_path / "a"))
    mended = mend(run, 3, _0=upper(1, 3))
    other = open_run(write_run(tmp_path / "b", draw=lambda index: stripes(5, None)))
    review = Review(SHA256, mended=mended)
    with pytest.raises(ReviewError, match=r"03.jpg was labelled anew since it was mended"):
        Division(other.folder, review, K).result(other.images[3])
    assert other.fresh(review).mended == {} and run.fresh(review).mended == mended
    assert 3 not in dict(what_to_look_at(run, PartsOfPhotos.of(run, run.fresh(review))))
