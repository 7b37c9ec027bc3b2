"""Photos with object masks: which belong together, and folders that are not so."""

from __future__ import annotations

import numpy as np
import pytest
from PIL import Image

from partdino.errors import DatasetError, InputError
from partdino.evaluation.datasets import ObjectMasks

SIZE = (30, 40)


def mask():
    values = np.zeros(SIZE, np.uint8)
    values[10:20, 5:35] = 255
    return values


def save(path, values, **options):
    path.parent.mkdir(parents=True, exist_ok=True)
    Image.fromarray(values).save(path, **options)


@pytest.fixture
def root(tmp_path):
    for name in ("b", "a"):
        save(tmp_path / f"set/images/{name}.jpg", np.zeros((*SIZE, 3), np.uint8))
        save(tmp_path / f"set/masks/{name}.png", mask())
    return tmp_path / "set"


def test_samples(root):
    dataset = ObjectMasks(root)
    samples = dataset.samples("score")
    assert [sample.name for sample in samples] == ["a.jpg", "b.jpg"]
    assert dataset.samples("fit") == samples and not dataset.samples("regression")
    assert not samples[0].squeezed
    np.testing.assert_array_equal(samples[0].label_map(), mask() > 0)
    identity = dataset.identity
    assert (identity.name, identity.counts) == ("set", {"fit": 2, "score": 2})
    assert not identity.warnings


def test_label_maps_stand_for_masks(root):
    (root / "masks").rename(root / "labels")
    labels = mask() // 51
    save(root / "labels/a.png", labels)
    np.testing.assert_array_equal(ObjectMasks(root).samples("fit")[0].label_map(), labels > 0)


def test_photos_without_a_mask_are_left_out(root):
    (root / "masks/a.png").unlink()
    dataset = ObjectMasks(root)
    assert [sample.name for sample in dataset.samples("score")] == ["b.jpg"]
    (line,) = dataset.identity.warnings
    assert line.startswith("1 photos have no mask")


def test_masks_are_upright(root):
    exif = Image.Exif()
    exif[0x0112] = 6
    save(root / "images/a.jpg", np.zeros((*SIZE[::-1], 3), np.uint8), exif=exif)
    assert ObjectMasks(root).samples("score")[0].label_map().shape == SIZE


def test_other_masks_are_another_data_set(root):
    first = ObjectMasks(root).identity.sha256
    save(root / "masks/a.png", 255 - mask())
    assert ObjectMasks(root).identity.sha256 != first


def test_a_mask_of_another_shape_is_refused(root):
    save(root / "masks/a.png", mask().T.copy())
    sample = ObjectMasks(root).samples("score")[0]
    with pytest.raises(InputError, match=r"a\.png: a mask of 30 x 40 pixels for a photo of 40 x"):
        sample.label_map()


def test_a_damaged_photo_is_left_to_reading_it(root):
    (root / "images/a.jpg").write_bytes(b"no photo")
    assert len(ObjectMasks(root).samples("score")) == 2


@pytest.mark.parametrize("folder", ["images", "masks"])
def test_a_missing_folder_is_named(root, folder):
    (root / folder).rename(root / "elsewhere")
    with pytest.raises(DatasetError, match=rf"no {folder}.* in it; lay it out"):
        ObjectMasks(root)


def test_masks_of_other_photos_are_refused(root):
    for path in list((root / "masks").iterdir()):
        path.rename(path.with_name(f"other-{path.name}"))
    with pytest.raises(DatasetError, match="none of the annotated images"):
        ObjectMasks(root)
