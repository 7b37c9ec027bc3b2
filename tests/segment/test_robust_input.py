"""Photos as people have them: each is labelled, or fails alone and with a reason."""

from __future__ import annotations

import json
import os
import re
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import tifffile
from PIL import Image
from segment_runs import SMALL, failures, files, flags, label_map, process

# What shows the same pixels as plain.png must get the same labels to the pixel.
SAME = (
    *("plain.bmp", "plain.tif", "plain.webp", "opaque.png", "16-bit colour.tif"),
    *("sub/plain.png", "sub/other/plain.png", "Vögel 鳥 🐦 .png", "link.png", "linked/a.png"),
    r"caf\xe9.png",  # a byte that is not UTF-8
    "x" * 251 + ".png",  # the longest name there is
)
TURNED = {f"exif {orientation}.png": orientation for orientation in range(2, 9)}
TURNS = {  # from the upright photo to the one as stored
    2: lambda a: a[:, ::-1],
    3: lambda a: a[::-1, ::-1],
    4: lambda a: a[::-1],
    5: lambda a: a.swapaxes(0, 1),
    6: lambda a: np.rot90(a),
    7: lambda a: a[::-1, ::-1].swapaxes(0, 1),
    8: lambda a: np.rot90(a, -1),
}
# Other pixels, but the same animal: most of its area must be found again.
SIMILAR = ("grey.png", "16-bit grey.png", "cmyk.jpg", "palette.png", "transparent.png", "la.png")
# Name and (height, width) of what is too small or too plain to show anything.
ODD = {
    "32 pixels.png": (24, 32),
    "one pixel.png": (1, 1),
    "strip.png": (3, 400),
    "black.png": (90, 120),
    "red.jpg": (120, 90),
}
BAD = {
    "empty.jpg": "the file is empty",
    "truncated.jpg": "truncated",
    "text.jpg": "not an image",
    "broken link.jpg": "no such file",
    # The longest names that differ in their suffix alone, so that their label maps keep it.
    "y" * 251 + ".jpg": "File name too long",
    "y" * 251 + ".png": "File name too long",
    "plain.png.png/photo.png": "File exists",
}


@pytest.fixture(scope="module")
def photo(photo_folder) -> np.ndarray:
    return np.asarray(Image.open(photo_folder / "animal_0000.jpg"))


@pytest.fixture(scope="module")
def zoo(photo_folder, photo, tmp_path_factory) -> Path:
    """A folder of every kind of file, good and bad."""
    folder = tmp_path_factory.mktemp("zoo") / "in"
    (folder / "sub" / "other").mkdir(parents=True)
    for source in photo_folder.iterdir():
        (folder / source.name).write_bytes(source.read_bytes())
    write_same(folder, Image.fromarray(photo))
    write_turned(folder, photo)
    write_similar(folder, Image.fromarray(photo))
    write_odd(folder, Image.fromarray(photo))
    write_bad(folder, photo_folder / "animal_0000.jpg")
    return folder


def write_same(folder: Path, photo: Image.Image) -> None:
    for name in ("plain.png", *SAME[:3], "sub/plain.png", "sub/other/plain.png", SAME[7], SAME[-1]):
        options = {"lossless": True} if name.endswith(".webp") else {}
        photo.save(folder / name, **options)
    photo.save(os.fsencode(folder) + b"/caf\xe9.png", "PNG")
    photo.convert("RGBA").save(folder / "opaque.png")
    deep = np.asarray(photo).astype(np.uint16) * 257
    tifffile.imwrite(folder / "16-bit colour.tif", deep, photometric="rgb")
    outside = folder.parent / "outside"
    outside.mkdir()
    photo.save(outside / "a.png")
    photo.save(folder.parent / "b.png")
    (folder / "linked").symlink_to(outside)
    (folder / "link.png").symlink_to("../b.png")


def write_turned(folder: Path, photo: np.ndarray) -> None:
    for name, orientation in TURNED.items():
        exif = Image.Exif()
        exif[0x0112] = orientation
        stored = np.ascontiguousarray(TURNS[orientation](photo))
        Image.fromarray(stored).save(folder / name, exif=exif)


def write_similar(folder: Path, photo: Image.Image) -> None:
    grey = photo.convert("L")
    grey.save(folder / "grey.png")
    Image.fromarray(np.asarray(grey).astype(np.uint16) * 257).save(folder / "16-bit grey.png")
    photo.convert("CMYK").save(folder / "cmyk.jpg", quality=95)
    photo.quantize(200).save(folder / "palette.png")
    opacity = Image.new("L", photo.size, 255)
    opacity.paste(0, (0, 0, 12, 12))
    photo.putalpha(opacity)
    photo.save(folder / "transparent.png")
    grey.putalpha(opacity)
    grey.save(folder / "la.png")


def write_odd(folder: Path, photo: Image.Image) -> None:
    for name, (height, width) in ODD.items():
        colour = (200, 10, 30) if name == "red.jpg" else (0, 0, 0)
        Image.new("RGB", (width, height), colour).save(folder / name)
    photo.resize((32, 24)).save(folder / "32 pixels.png")


def write_bad(folder: Path, photo: Path) -> None:
    (folder / "empty.jpg").touch()
    (folder / "truncated.jpg").write_bytes(photo.read_bytes()[:1500])
    (folder / "text.jpg").write_text("dear diary")
    (folder / "broken link.jpg").symlink_to("nowhere.jpg")
    for name in list(BAD)[4:]:
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_bytes(photo.read_bytes())


@pytest.fixture(scope="module")
def run(segment, zoo, tmp_path_factory) -> SimpleNamespace:
    out = tmp_path_factory.mktemp("zoo-out")
    result = segment(zoo, out)
    return SimpleNamespace(out=out, **vars(result))


@pytest.mark.parametrize("name", SAME)
def test_the_same_pixels_get_the_same_labels(run, name):
    np.testing.assert_array_equal(label_map(run.out, name), label_map(run.out, "plain.png"))


@pytest.mark.parametrize("name", TURNED)
def test_labels_are_upright(run, name):
    np.testing.assert_array_equal(label_map(run.out, name), label_map(run.out, "plain.png"))


@pytest.mark.parametrize("name", SIMILAR)
def test_other_pixel_formats_show_the_same_animal(run, name):
    plain, other = label_map(run.out, "plain.png") > 0, label_map(run.out, name) > 0
    assert (plain & other).sum() / (plain | other).sum() > 0.5  # 0.73 to 1 as written


@pytest.mark.parametrize("name", ODD)
def test_odd_photos_get_a_label_map_of_their_size(run, name):
    assert label_map(run.out, name).shape == ODD[name]


def test_photos_of_one_colour_are_reported_not_dropped(run):
    document = json.loads((run.out / "run.json").read_text())
    assert {"black.png", "red.jpg"} <= set(document["without_foreground"])
    assert document["without_photo"] == []
    assert "no foreground in" in run.stderr
    assert not label_map(run.out, "black.png").any() and not label_map(run.out, "red.jpg").any()


def test_bad_files_fail_alone_and_say_why(run, zoo):
    reasons = failures(run.out)
    assert set(reasons) == set(BAD)
    for name, reason in BAD.items():
        assert re.search(reason, reasons[name]), reasons[name]
        assert f"warning: {name}: {reasons[name]}\n" in run.stderr
    counts = json.loads((run.out / "run.json").read_text())["counts"]
    labelled = len(SAME) + 1 + len(TURNED) + len(SIMILAR) + len(ODD) + 8
    assert (counts["labelled"], counts["failed"]) == (labelled, len(BAD))
    assert len(files(run.out / "labels")) == labelled


def test_the_exit_code_and_the_summary_say_that_some_failed(run):
    assert run.code == 1
    assert f"{len(BAD)} images failed" in run.stderr.splitlines()[-1]
    assert "Traceback" not in run.stderr


def test_a_listed_file_that_is_missing_fails_alone(segment, photo_folder, tmp_path):
    here, missing = photo_folder / "animal_0000.jpg", photo_folder / "nowhere.jpg"
    (tmp_path / "list.txt").write_text(f"{missing}\n{here}\n")
    assert segment(tmp_path / "list.txt", tmp_path / "out").code == 1
    assert failures(tmp_path / "out") == {
        "nowhere.jpg": "no such file or directory; check the path and its permissions"
    }


@pytest.mark.parametrize("model", [False, True])
def test_nothing_but_bad_files_is_an_error_in_one_line(
    segment, partdino, finished_run, tmp_path, model
):
    (tmp_path / "in").mkdir()
    for name in ("a.jpg", "b.jpg"):
        (tmp_path / "in" / name).touch()
    out = tmp_path / "out"
    if model:
        model_file = finished_run / "parts.safetensors"
        result = partdino("segment", tmp_path / "in", "--out", out, "--model", model_file, "-q")
    else:
        result = segment(tmp_path / "in", out, "-q")
    assert result.code == 2
    error = result.stderr.splitlines()[-1]
    assert error.startswith("error: none of the 2 images could be read")
    assert "a.jpg: the file is empty" in error and str(out / "failures.csv") in error
    assert set(failures(out)) == {"a.jpg", "b.jpg"}


def test_inputs_without_images_are_an_error_in_one_line(segment, tmp_path):
    (tmp_path / "empty").mkdir()
    (tmp_path / "notes.txt").write_text("\n# nothing\n")
    for source, reason in (
        (tmp_path / "empty", "no images in"),
        (tmp_path / "notes.txt", "no images in"),
        (tmp_path / "nowhere", "does not exist"),
    ):
        result = segment(source, tmp_path / "out")
        assert (result.code, result.stderr.count("\n")) == (2, 1)
        assert reason in result.stderr and str(source) in result.stderr


def test_a_name_that_is_not_utf8_can_be_a_folder_an_option_and_an_output(
    segment, photo_folder, finished_run, tmp_path
):
    odd = tmp_path / os.fsdecode(b"caf\xe9")
    odd.mkdir()
    (odd / "a.jpg").write_bytes((photo_folder / "animal_0000.jpg").read_bytes())
    model = odd / "parts.safetensors"
    model.write_bytes((finished_run / "parts.safetensors").read_bytes())
    masks = odd / "masks"
    masks.mkdir()
    Image.new("L", (160, 107), 255).save(masks / "a.png")
    photo = odd / "a.jpg"
    first = segment(photo, odd / "out", "--json", masks=masks, foreground="masks")
    second = segment(photo, odd / "out2", "--json", "--model", model)
    for result, out in ((first, odd / "out"), (second, odd / "out2")):
        assert result.code == 0, result.stderr
        assert json.loads(result.stdout) == json.loads((out / "run.json").read_text())
        assert files(out / "labels") == ["a.png"]


def test_one_photo_is_enough(segment, photo_folder, tmp_path):
    assert segment(photo_folder / "animal_0000.jpg", tmp_path).code == 0
    assert set(np.unique(label_map(tmp_path, "animal_0000.jpg"))) == set(range(5))


def test_more_parts_than_regions(segment, photo_folder, tmp_path):
    result = segment(photo_folder / "animal_0000.jpg", tmp_path, parts=200)
    assert result.code == 0
    found = int(re.search(r"there are only (\d+) distinct foreground cells", result.stderr)[1])
    labels = label_map(tmp_path, "animal_0000.jpg")
    assert set(np.unique(labels)) == set(range(found + 1))
    categories = json.loads((tmp_path / "coco.json").read_text())["categories"]
    assert [category["name"] for category in categories][-1] == "part_200"
    run = json.loads((tmp_path / "run.json").read_text())
    assert run["parts"].items() >= {"asked": 200, "chosen": 200, "found": found}.items()


@pytest.mark.parametrize("foreground", ["auto", "none"])
def test_photos_of_one_colour_alone(segment, tmp_path, foreground):
    (tmp_path / "in").mkdir()
    for index, grey in enumerate((0, 128, 255)):
        Image.new("RGB", (60, 40), (grey,) * 3).save(tmp_path / "in" / f"{index}.png")
    result = segment(tmp_path / "in", tmp_path / "out", foreground=foreground)
    if foreground == "auto":
        assert result.code == 2
        assert "every photo is a single region" in result.stderr
        assert "of one colour; --foreground none" in result.stderr
    else:
        assert result.code == 0, result.stderr
        for index in range(3):
            labels = label_map(tmp_path / "out", f"{index}.png")
            assert labels.shape == (40, 60) and labels.min() == labels.max() > 0


@pytest.mark.filterwarnings("ignore:Image size:PIL.Image.DecompressionBombWarning")
def test_100_megapixels_in_bounded_memory(tmp_path):
    Image.linear_gradient("L").resize((10_000, 10_000)).save(tmp_path / "large.jpg")
    measure = (
        "import atexit, resource, partdino.runs.segment, partdino.describe.features\n"
        "peak = lambda: resource.getrusage(resource.RUSAGE_SELF).ru_maxrss\n"
        "atexit.register(lambda before=peak(): print(peak() - before))"
    )
    options = flags({**SMALL, "foreground": "none"})
    child = process(
        "segment", tmp_path / "large.jpg", "--out", tmp_path / "out", *options, before=measure
    )
    stdout, stderr = child.communicate()
    assert child.returncode == 0, stderr
    unit = 1 if sys.platform == "darwin" else 1024
    # 440 MB as written, of which 100 are the label map; the photo as RGB would take 300.
    assert int(stdout) * unit < 600e6
    with Image.open(tmp_path / "out" / "labels" / "large.png") as labels:
        assert labels.size == (10_000, 10_000)
