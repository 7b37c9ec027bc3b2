"""HED: the network and the layout of its weights file, against an independent computation."""

from __future__ import annotations

import shutil
from pathlib import Path

import cv2
import h5py
import numpy as np
import pytest
import torch
import torch.nn.functional as F

from partdino.describe.boundaries import detect_boundaries, hed
from partdino.errors import WeightsError

WIDTHS = [[3, 64, 64], [64, 128, 128], [128, *[256] * 3], [256, *[512] * 3], [512, *[512] * 3]]


def random_arrays() -> dict[str, np.ndarray]:
    """Draw weights, by the names of the layout in the file, that keep the signal's size."""
    rng = np.random.default_rng(0)

    def draw(size: int, width_in: int, width_out: int, gain: float) -> np.ndarray:
        spread = gain / np.sqrt(size * size * width_in)
        return rng.normal(0, spread, (size, size, width_in, width_out)).astype(np.float32)

    arrays = {}
    for level, widths in enumerate(WIDTHS, start=1):
        for index in range(len(widths) - 1):
            name = f"block{level}/layers/conv2d" + (f"_{index}" if index else "")
            arrays[f"{name}/vars/0"] = draw(3, widths[index], widths[index + 1], np.sqrt(2))
            arrays[f"{name}/vars/1"] = rng.normal(0, 5, widths[index + 1]).astype(np.float32)
        arrays[f"dsn{level}/vars/0"] = draw(1, widths[-1], 1, 0.02)
        arrays[f"dsn{level}/vars/1"] = rng.normal(0, 0.1, 1).astype(np.float32)
    arrays["fuse/vars/0"] = draw(1, 5, 1, 2.0)
    arrays["fuse/vars/1"] = np.array([0.1], np.float32)
    return arrays


def reference(image: np.ndarray, arrays: dict[str, np.ndarray]) -> np.ndarray:
    """Compute HED from Xie & Tu's description, sharing nothing with the package."""
    height, width = image.shape[:2]
    x = image[..., ::-1] - np.array([104.00699, 116.66877, 122.67892])
    logits = float(arrays["fuse/vars/1"][0])
    for level, widths in enumerate(WIDTHS, start=1):
        if level > 1:
            odd = [(0, size % 2) for size in x.shape[:2]]
            x = np.pad(x, [*odd, (0, 0)], constant_values=-np.inf)
            x = x.reshape(x.shape[0] // 2, 2, x.shape[1] // 2, 2, -1).max(axis=(1, 3))
        for index in range(len(widths) - 1):
            name = f"block{level}/layers/conv2d" + (f"_{index}" if index else "")
            kernel, bias = arrays[f"{name}/vars/0"], arrays[f"{name}/vars/1"]
            batch = torch.tensor(x).permute(2, 0, 1)[None]
            kernel = torch.tensor(kernel).permute(3, 2, 0, 1).double()
            x = F.conv2d(batch, kernel, torch.tensor(bias).double(), padding=1)
            x = x[0].permute(1, 2, 0).clamp(min=0).numpy()
        side = x @ arrays[f"dsn{level}/vars/0"][0, 0, :, 0] + arrays[f"dsn{level}/vars/1"]
        side = cv2.resize(side, (width, height), interpolation=cv2.INTER_LINEAR)
        logits = logits + arrays["fuse/vars/0"][0, 0, level - 1, 0] * side
    return 1 / (1 + np.exp(-logits))


@pytest.fixture(scope="module")
def arrays() -> dict[str, np.ndarray]:
    return random_arrays()


@pytest.fixture(scope="module")
def weights_file(arrays, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("hed") / "random.weights.h5"
    with h5py.File(path, "w") as file:
        for name, array in arrays.items():
            file[name] = array
    return path


@pytest.fixture
def use_random_weights(weights_file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hed.weights, "path", lambda name: weights_file)


@pytest.mark.parametrize("size", [(32, 32), (37, 50), (65, 17), (1, 9)])
def test_equals_an_independent_computation(size, arrays, use_random_weights):
    image = np.random.default_rng(1).integers(0, 256, (*size, 3), dtype=np.uint8)
    image = cv2.GaussianBlur(image, (0, 0), 2)
    found = hed.detect(image[None])[0]
    expected = reference(image, arrays)
    assert found.dtype == np.float32 and found.shape == size
    assert expected.std() > 0.005  # an even map would compare nothing
    np.testing.assert_allclose(found, expected, atol=1e-4)


@pytest.mark.parametrize("precision", ["fp32", "bf16"])
def test_same_bits_whatever_the_number_of_threads(use_random_weights, precision):
    image = np.random.default_rng(2).integers(0, 256, (70, 101, 3), dtype=np.uint8)
    threads = torch.get_num_threads()
    try:
        maps = []
        for count in (1, 2, 3):
            torch.set_num_threads(count)
            maps.append(hed.detect(image[None], precision=precision))
    finally:
        torch.set_num_threads(threads)
    assert np.array_equal(maps[0], maps[1]) and np.array_equal(maps[0], maps[2])


@pytest.mark.parametrize("precision", ["fp32", "bf16"])
def test_same_bits_alone_and_among_others(use_random_weights, precision):
    images = np.random.default_rng(5).integers(0, 256, (3, 40, 56, 3), dtype=np.uint8)
    together = detect_boundaries(images, "hed", precision=precision)
    assert together.shape == (3, 40, 56)
    apart = [detect_boundaries(image, "hed", precision=precision) for image in images]
    assert np.array_equal(together, apart)


@pytest.mark.parametrize("precision", ["bf16", "fp16"])
def test_lower_precision_is_near(use_random_weights, precision):
    image = np.random.default_rng(6).integers(0, 256, (32, 48, 3), dtype=np.uint8)
    low = detect_boundaries(image, "hed", precision=precision)
    full = detect_boundaries(image, "hed")
    assert low.dtype == np.float32
    assert 0 < np.abs(low - full).max() < 0.02


def test_the_network_is_loaded_once(use_random_weights, weights_file):
    image = np.zeros((32, 32, 3), np.uint8)
    hed.detect(image[None])
    before = hed._cached.cache_info()
    hed.detect(image[None])
    after = hed._cached.cache_info()
    assert (after.misses, after.hits) == (before.misses, before.hits + 1)


def test_a_file_that_is_not_hdf5(tmp_path):
    path = tmp_path / "text.h5"
    path.write_text("not weights")
    with pytest.raises(WeightsError, match=r"text\.h5 does not hold HED.*weights pull hed"):
        hed.load_hed(path)


@pytest.mark.parametrize("name", ["fuse/vars/0", "block4/layers/conv2d_2/vars/1"])
@pytest.mark.parametrize("change", ["absent", "other shape"])
def test_a_file_of_another_network(tmp_path, weights_file, name, change):
    path = tmp_path / "other.h5"
    shutil.copy(weights_file, path)
    with h5py.File(path, "r+") as file:
        shape = file[name].shape
        del file[name]
        if change == "other shape":
            file[name] = np.zeros((*shape[:-1], shape[-1] + 1), np.float32)
    with pytest.raises(WeightsError, match=r"other\.h5 does not hold HED weights"):
        hed.load_hed(path)


def test_real_weights_see_a_step_and_no_noise(real_hed):
    rng = np.random.default_rng(0)
    image = np.full((96, 128, 3), 60, np.int64)
    image[:, 64:] = 200
    image += rng.integers(-6, 7, image.shape)
    found = detect_boundaries(image.astype(np.uint8), "hed")
    assert found[10:-10, 63:65].min() > 0.7
    assert found[10:-10, 15:45].max() < 0.3


@pytest.mark.gpu
def test_gpu_agrees_with_cpu(use_random_weights):
    if not torch.cuda.is_available():
        pytest.skip("no CUDA device")
    image = np.random.default_rng(3).integers(0, 256, (60, 90, 3), dtype=np.uint8)
    np.testing.assert_allclose(hed.detect(image[None], "cuda"), hed.detect(image[None]), atol=5e-3)
