"""Each stage alone, as a function over arrays, and the stages that need weights of their own."""

from __future__ import annotations

import json

import numpy as np
import pytest
from segment_runs import label_bytes, label_map

from partdino import detect_boundaries, extract_features, load_backbone, make_regions, pool
from partdino.describe import weights as packaged
from partdino.describe.features import Backbone, hub
from partdino.describe.placement import describe_images
from partdino.describe.settling import settle
from partdino.describe.source import Source
from partdino.options import Options

needs_hed = pytest.mark.skipif(
    not packaged.is_available("hed"), reason="no HED weights: partdino weights pull hed"
)


@pytest.fixture(scope="module")
def backbone():
    return load_backbone("efficientnet-lite2")


@pytest.fixture
def image() -> np.ndarray:
    """A bright square on dark noise."""
    image = np.random.default_rng(0).integers(0, 60, (96, 128, 3), dtype=np.uint8)
    image[24:72, 40:88] += 180
    return image


@pytest.mark.parametrize("method", ["gradient", pytest.param("hed", marks=needs_hed)])
def test_the_stages_chain_as_functions(backbone, image, method):
    features = extract_features(image, backbone, image_size=224)
    boundary_map = detect_boundaries(image, method)
    regions = make_regions(image, boundary_map)
    pooled = pool(features, regions)
    assert features.shape[2] == backbone.dim and features.dtype == np.float32
    assert boundary_map.shape == regions.shape == image.shape[:2]
    assert boundary_map.min() >= 0 and boundary_map.max() <= 1
    assert boundary_map[20:76, 36:44].max() > boundary_map[:16].mean()
    assert set(np.unique(regions)) == set(range(regions.max() + 1))
    assert pooled.shape == (regions.max() + 1, backbone.dim)
    inside, outside = regions[48, 64], regions[4, 4]
    assert inside != outside and not np.allclose(pooled[inside], pooled[outside])


def test_a_description_is_what_the_stages_give(backbone, image):
    options = Options(
        boundaries="gradient", regions="watershed", image_size=224, region_size=111, device="cpu"
    )
    (outcome,) = describe_images([Source("a", image)], backbone, options, with_patches=True)
    description = outcome.value
    assert description.size == (96, 128)
    cells = len(description.areas)
    assert description.areas.sum() == description.cells.size
    assert cells == description.cells.max() + 1 == len(description.regions)
    assert description.features.shape == (cells, backbone.dim)
    assert description.edges.max() < cells and (description.border_length > 0).all()
    assert len(description.edges) == len(description.border_length) == len(description.strength)
    assert set(outcome.seconds) == {"decode", "boundaries", "regions", "features", "pooling"}
    lengths = np.linalg.norm(description.patches.astype(float), axis=2)
    np.testing.assert_allclose(lengths, 1, atol=1e-2)


def test_a_batch_that_fails_is_tried_image_by_image(image):
    class SmallDevice:
        patch_size, default_image_size = 32, 64

        def extract(self, images):
            if len(images) > 1 or images.max() == 0:
                raise RuntimeError("out of memory")
            return np.ones((len(images), 2, 2, 3), np.float32)

    options = Options(boundaries="none", regions="felzenszwalb", region_size=64)
    images = [image, 0 * image, image]
    sources = [Source(f"{index}", image) for index, image in enumerate(images)]
    outcomes = list(describe_images(sources, SmallDevice(), options))
    assert [outcome.failure is None for outcome in outcomes] == [True, False, True]
    assert outcomes[1].failure == "not enough memory; scale it down first"


@needs_hed
def test_a_run_with_hed(segment, photo_folder, tmp_path):
    photo = photo_folder / "animal_0000.jpg"
    first, second = tmp_path / "1", tmp_path / "2"
    result = segment(photo, first, boundaries="auto")
    assert result.code == 0, result.stderr
    assert "Regions: watershed with boundaries hed (its weights are cached)." in result.stderr
    assert segment(photo, second, boundaries="hed", workers=0, batch_size=1).code == 0
    assert label_bytes(first) == label_bytes(second)
    assert label_map(first, photo.name).any()


@pytest.mark.parametrize(
    "options",
    [
        {"boundaries": "gradient"},
        {"boundaries": "gradient", "regions": "slic", "region_scale": 80},
        {"regions": "felzenszwalb", "region_scale": 30, "min_region": 10},
        {"regions": "slic"},
    ],
    ids=lambda options: "-".join(str(value) for value in options.values()),
)
def test_runs_with_every_kind_of_region(segment, photo_folder, tmp_path, options):
    assert segment(photo_folder / "animal_0000.jpg", tmp_path, **options).code == 0
    assert label_map(tmp_path, "animal_0000.jpg").any()
    recorded = json.loads((tmp_path / "run.json").read_text())["options"]
    assert options.items() <= recorded.items()


def test_watershed_without_a_boundary_map_is_refused(segment, photo_folder, tmp_path):
    result = segment(photo_folder, tmp_path / "out", regions="watershed", boundaries="none")
    assert (result.code, result.stderr.count("\n")) == (2, 1)
    assert "--boundaries hed or gradient" in result.stderr


@pytest.mark.parametrize("cached", [True, False])
@pytest.mark.parametrize(
    ("boundaries", "regions", "with_hed", "without"),
    [
        ("auto", "auto", ("hed", "watershed"), ("none", "felzenszwalb")),
        ("auto", "watershed", ("hed", "watershed"), ("gradient", "watershed")),
        ("auto", "slic", ("none", "slic"), ("none", "slic")),
        ("auto", "felzenszwalb", ("none", "felzenszwalb"), ("none", "felzenszwalb")),
        ("gradient", "auto", ("gradient", "watershed"), ("gradient", "watershed")),
        ("none", "auto", ("none", "felzenszwalb"), ("none", "felzenszwalb")),
    ],
)
def test_auto_takes_what_is_there(monkeypatch, cached, boundaries, regions, with_hed, without):
    monkeypatch.setattr(packaged, "is_available", lambda name: cached)
    asked = Options(backbone="efficientnet-lite2", boundaries=boundaries, regions=regions)
    _, options, notes = settle(asked)
    assert (options.boundaries, options.regions) == (with_hed if cached else without)
    assert options.region_scale is not None and options.device != "auto"
    assert (notes[1].count("its weights are cached") == 1) == (options.boundaries == "hed")


def test_auto_takes_the_embedded_backbone_where_the_hub_is_silent(
    segment, photo_folder, tmp_path, monkeypatch
):
    monkeypatch.setattr(hub, "cached", lambda name: None)
    monkeypatch.setattr(hub, "obstacle", lambda name: "the hub is asleep")
    result = segment(photo_folder / "animal_0000.jpg", tmp_path, backbone="auto")
    assert result.code == 0
    note = "Backbone efficientnet-lite2, as dinov2-s14 is not to be had: the hub is asleep."
    (warning,) = (line for line in result.stderr.splitlines() if note in line)
    assert warning.startswith("warning: ") and "partdino weights pull dinov2-s14" in warning
    note = warning.removeprefix("warning: ")
    run = json.loads((tmp_path / "run.json").read_text())
    assert note in run["notes"] and run["options"]["backbone"] == "efficientnet-lite2"


def test_unknown_devices_and_backbones_are_one_line(segment, photo_folder, tmp_path):
    for option, value in (("device", "cuda:77"), ("backbone", "dinov9"), ("layer", 3)):
        result = segment(photo_folder, tmp_path / "out", **{option: value})
        assert (result.code, result.stderr.splitlines()[-1][:6]) == (2, "error:")
        assert "Traceback" not in result.stderr and "unexpected" not in result.stderr


def test_a_dead_device_ends_the_run_and_books_no_image(
    segment, photo_folder, tmp_path, monkeypatch
):
    extract, tried = Backbone.extract, []

    def dying(self, images):
        tried.append(images)
        if len(tried) > 3:
            raise RuntimeError("CUDA error: an illegal memory access was encountered\nCompile ...")
        return extract(self, images)

    with monkeypatch.context() as patched:
        patched.setattr(Backbone, "extract", dying)
        result = segment(photo_folder, tmp_path / "out")
    assert (result.code, len(tried)) == (2, 4)
    line = result.stderr.splitlines()[-1]
    assert "an illegal memory access was encountered" in line and "--resume" in line
    assert not (tmp_path / "out" / "failures.csv").exists()
    assert segment(photo_folder, tmp_path / "out", "--resume").code == 0
    assert segment(photo_folder, tmp_path / "whole").code == 0
    assert label_bytes(tmp_path / "out") == label_bytes(tmp_path / "whole")
