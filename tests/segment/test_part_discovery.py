"""`PartDiscovery`: an estimator as scikit-learn's users know it."""

from __future__ import annotations

import pickle
import shutil
import warnings
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from segment_runs import PARTS, SMALL, label_map
from sklearn.base import ClusterMixin, clone
from sklearn.exceptions import NotFittedError

from partdino import PartDiscovery, PartSegmentation
from partdino.errors import ConfigError, InputError, ModelError, PartDinoError
from partdino.images import read_image
from partdino.options import OPTION_NAMES
from partdino.parts.labelling import outline_pixels


@pytest.fixture(scope="module")
def paths(photo_folder) -> list[Path]:
    return sorted(photo_folder.iterdir())[:4]


@pytest.fixture(scope="module")
def arrays(paths) -> list[np.ndarray]:
    return [read_image(path).pixels for path in paths]


@pytest.fixture(scope="module")
def fitted(paths) -> PartDiscovery:
    return PartDiscovery(**SMALL).fit(paths)


def same(results: list[PartSegmentation], others: list[PartSegmentation]) -> None:
    assert len(results) == len(others) > 0
    for result, other in zip(results, others, strict=True):
        np.testing.assert_array_equal(result.label_map, other.label_map)
        np.testing.assert_array_equal(result.confidence, other.confidence)
        np.testing.assert_array_equal(result.typicality, other.typicality)


def test_parameters_are_the_options():
    discovery = PartDiscovery(parts=3)
    assert set(discovery.get_params()) == {*OPTION_NAMES, "numbers"}
    assert discovery.set_params(seed=7) is discovery
    assert (discovery.parts, discovery.seed) == (3, 7)
    with pytest.raises(ValueError, match="novelty"):
        discovery.set_params(novelty=1)
    assert "parts=3" in repr(discovery)
    assert isinstance(discovery, ClusterMixin)
    assert len({discovery, clone(discovery)}) == 2


def test_clones_have_the_parameters_and_nothing_learnt(fitted):
    copy = clone(fitted)
    assert copy.get_params() == fitted.get_params()
    assert not [name for name in vars(copy) if name.endswith("_")]
    with pytest.raises(NotFittedError):
        copy.predict("anything")


def test_nothing_is_checked_before_fit(paths):
    discovery = PartDiscovery(parts=0)
    with pytest.raises(ConfigError, match="parts is 0"):
        discovery.fit(paths)


@pytest.mark.parametrize("use", [lambda d: d.predict("a.jpg"), lambda d: d.save("a.safetensors")])
def test_unfitted_estimators_say_so(use):
    with pytest.raises(NotFittedError):
        use(PartDiscovery())


def test_fit_predict_equals_fit_then_predict(fitted, paths):
    assert fitted.fit(paths) is fitted
    same(PartDiscovery(**SMALL).fit_predict(paths), fitted.predict(paths))


def test_the_command_and_the_library_agree(finished_run, photo_folder):
    for result in PartDiscovery(**SMALL).fit_predict(photo_folder):
        np.testing.assert_array_equal(result.label_map, label_map(finished_run, result.name))


def test_arrays_equal_paths(paths, arrays):
    by_array = PartDiscovery(**SMALL).fit_predict(arrays)
    same(by_array, PartDiscovery(**SMALL).fit_predict(paths))
    assert [result.name for result in by_array] == [f"image_{i:06}" for i in range(4)]


def test_results_come_in_the_order_of_the_images(fitted, paths, arrays):
    expected = fitted.predict(paths)
    same(fitted.predict(paths[::-1]), expected[::-1])
    same(fitted.predict([str(paths[2]), arrays[0], paths[1]]), [expected[i] for i in (2, 0, 1)])
    whole = fitted.predict([arrays[3], paths[0].parent])
    same(whole[:5], [expected[3], *expected])
    assert len(whole) == 1 + 8


@pytest.mark.parametrize("form", [str, Path, lambda path: read_image(path).pixels])
def test_a_single_image_needs_no_list(fitted, paths, form):
    same(fitted.predict(form(paths[1])), fitted.predict(paths)[1:2])


def test_results_are_typed(fitted, paths):
    for result, path in zip(fitted.predict(paths), paths, strict=True):
        assert isinstance(result, PartSegmentation)
        assert result.name == path.name
        assert result.label_map.dtype == np.uint8 and result.label_map.max() <= PARTS
        assert result.label_map.shape == Image.open(path).size[::-1]
        present = np.isin(np.arange(1, PARTS + 1), result.label_map)
        for values in (result.confidence, result.typicality):
            assert values.dtype == np.float32 and values.shape == (PARTS,)
            assert ((values >= 0) & (values <= 1)).all()
        assert (result.confidence[present] > 0).all() and result.foreground_found


def test_grey_arrays_are_images_too(fitted, arrays):
    grey = arrays[0].mean(axis=2).astype(np.uint8)
    same(fitted.predict(grey), fitted.predict(np.repeat(grey[..., None], 3, axis=2)))


@pytest.mark.parametrize(
    "array",
    [
        np.zeros((8, 8, 3), np.float32),
        np.zeros((8, 8, 4), np.uint8),
        np.zeros((2, 8, 8, 3), np.uint8),
        np.zeros((0, 8, 3), np.uint8),
        np.zeros(8, np.uint8),
    ],
)
def test_other_arrays_are_refused(fitted, array):
    with pytest.raises(InputError, match="image 0"):
        fitted.predict([array])


def test_no_images_at_all(tmp_path):
    for images in ([], tmp_path):
        with pytest.raises(InputError, match="no images in"):
            PartDiscovery(**SMALL).fit(images)


def test_bad_images_are_left_out_with_a_warning(paths, tmp_path):
    (tmp_path / "bad.jpg").write_text("no image")
    discovery = PartDiscovery(**SMALL)
    with pytest.warns(UserWarning, match=r"left out .*bad\.jpg: not an image"):
        results = discovery.fit_predict([paths[0], tmp_path / "bad.jpg", paths[1]])
    assert [Path(result.name).name for result in results] == [paths[0].name, paths[1].name]
    ((name, reason),) = discovery.failures_
    assert name.endswith("bad.jpg") and reason.startswith("not an image")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        discovery.predict(paths)
    assert discovery.failures_ == []


def test_a_photo_that_is_gone_by_then_keeps_a_coarser_outline(fitted, paths, tmp_path, monkeypatch):
    photo = Path(shutil.copy(paths[0], tmp_path))

    def losing(*arguments: object) -> int:
        photo.unlink(missing_ok=True)
        return outline_pixels(*arguments)

    monkeypatch.setattr("partdino.estimator.outline_pixels", losing)
    with pytest.warns(UserWarning, match=r"outline of .* not refined: .*no such file"):
        (result,) = fitted.predict([photo])
    (coarse,) = fitted.predict([paths[0]], outline_size=0)
    np.testing.assert_array_equal(result.label_map, coarse.label_map)


@pytest.mark.filterwarnings("ignore:left out")
def test_nothing_but_bad_images_cannot_be_fitted(tmp_path):
    (tmp_path / "bad.jpg").write_text("no image")
    with pytest.raises(PartDinoError, match="no image could be read"):
        PartDiscovery(**SMALL).fit(tmp_path)


def test_saved_and_loaded_estimators_predict_the_same(fitted, paths, finished_run, tmp_path):
    fitted.save(tmp_path / "parts.safetensors")
    loaded = PartDiscovery.load(tmp_path / "parts.safetensors", batch_size=2)
    same(loaded.predict(paths), fitted.predict(paths))
    assert loaded.batch_size == 2 and loaded.parts == PARTS
    from_command = PartDiscovery.load(str(finished_run / "parts.safetensors"))
    for result in from_command.predict(paths):
        np.testing.assert_array_equal(result.label_map, label_map(finished_run, result.name))


def test_loading_refuses_what_would_change_the_parts(fitted, tmp_path):
    fitted.save(tmp_path / "parts.safetensors")
    with pytest.raises(ModelError, match="holds its own 'parts'"):
        PartDiscovery.load(tmp_path / "parts.safetensors", parts=3)


def test_pickles_predict_the_same(fitted, paths):
    same(pickle.loads(pickle.dumps(fitted)).predict(paths), fitted.predict(paths))


def test_prediction_is_lazy_where_asked(fitted, paths):
    stream = fitted.iter_predict(paths)
    assert next(stream).name == paths[0].name
