"""Real files of every kind: pixels, size, orientation, reduction, memory, and one-line errors."""

from __future__ import annotations

import json
import os
import struct
import subprocess
import sys
import warnings
import zlib
from pathlib import Path

import cv2
import numpy as np
import pytest
import tifffile
from PIL import Image

from partdino.errors import InputError
from partdino.images import decode, read
from partdino.images.read import ImageError, read_image

HEIGHT, WIDTH = 24, 40


@pytest.fixture
def photo() -> np.ndarray:
    rows, columns = np.mgrid[:HEIGHT, :WIDTH]
    return np.stack([columns * 6, rows * 10, 255 - columns - rows], axis=-1).astype(np.uint8)


def saved(path: Path, pixels: np.ndarray | Image.Image, **options) -> Path:
    image = pixels if isinstance(pixels, Image.Image) else Image.fromarray(pixels)
    image.save(path, **options)
    return path


def reason(path: Path, max_pixels: int | None = None) -> str:
    """Return why a file can't be read, having checked the form of the error."""
    with pytest.raises(InputError) as caught:
        read_image(path, max_pixels)
    assert isinstance(caught.value, ImageError)
    assert str(caught.value) == f"{path}: {caught.value.reason}"
    assert "\n" not in str(caught.value)
    return caught.value.reason


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("a.png", {}),
        ("a.bmp", {}),
        ("a.ppm", {}),
        ("a.tif", {}),
        ("lzw.tiff", {"compression": "tiff_lzw"}),
        ("a.webp", {"lossless": True}),
        ("a.jp2", {}),
        ("wrong suffix é.jpg", {"format": "PNG"}),
    ],
)
def test_lossless_colour(tmp_path, photo, name, options):
    loaded = read_image(saved(tmp_path / name, photo, **options))
    np.testing.assert_array_equal(loaded.pixels, photo)
    assert loaded.size == (HEIGHT, WIDTH)
    assert loaded.pixels.dtype == np.uint8 and loaded.pixels.flags.c_contiguous


@pytest.mark.parametrize("progressive", [False, True])
def test_jpeg(tmp_path, photo, progressive):
    path = saved(tmp_path / "a.jpg", photo, quality=95, progressive=progressive)
    np.testing.assert_allclose(read_image(path).pixels, photo.astype(int), atol=12)


def test_grey_and_one_bit(tmp_path, photo):
    grey = photo[..., 0]
    expected = np.repeat(grey[..., None], 3, axis=2)
    np.testing.assert_array_equal(read_image(saved(tmp_path / "a.png", grey)).pixels, expected)
    bits = Image.fromarray(np.where(grey > 100, 255, 0).astype(np.uint8)).convert("1")
    for name in ("bits.png", "bits.tif", "bits.pbm"):
        loaded = read_image(saved(tmp_path / name, bits))
        np.testing.assert_array_equal(loaded.pixels, np.where(expected > 100, 255, 0))


def test_palette(tmp_path):
    indices = Image.fromarray(np.array([[0, 1], [2, 1]], np.uint8), mode="P")
    indices.putpalette([255, 0, 0, 0, 255, 0, 0, 0, 255])
    expected = np.array([[[255, 0, 0], [0, 255, 0]], [[0, 0, 255], [0, 255, 0]]])
    for name in ("a.png", "a.gif", "a.tif", "a.bmp"):
        np.testing.assert_array_equal(read_image(saved(tmp_path / name, indices)).pixels, expected)
    clear = saved(tmp_path / "clear.png", indices, transparency=1)
    expected[expected[..., 1] == 255] = 255
    np.testing.assert_array_equal(read_image(clear).pixels, expected)
    half = saved(tmp_path / "half.png", indices, transparency=bytes([255, 255, 128]))
    np.testing.assert_array_equal(read_image(half).pixels[1, 0], [127, 127, 255])


def test_alpha_is_composited_over_white(tmp_path):
    rgba = np.array([[[10, 20, 30, 255], [10, 20, 30, 0], [0, 100, 200, 51]]], np.uint8)
    expected = [[[10, 20, 30], [255, 255, 255], [204, 224, 244]]]
    for name in ("a.png", "a.tif"):
        np.testing.assert_array_equal(read_image(saved(tmp_path / name, rgba)).pixels, expected)
    lossless = saved(tmp_path / "a.webp", rgba, lossless=True, exact=True)
    np.testing.assert_array_equal(read_image(lossless).pixels, expected)
    grey = Image.fromarray(np.array([[[10, 255], [10, 0]]], np.uint8), mode="LA")
    loaded = read_image(saved(tmp_path / "grey.png", grey))
    np.testing.assert_array_equal(loaded.pixels, [[[10, 10, 10], [255, 255, 255]]])


def test_cmyk(tmp_path):
    # Pillow writes CMYK JPEGs as Adobe does: inverted, with an Adobe marker.
    for name in ("a.jpg", "a.tif"):
        for ink, colour in (
            ((0, 0, 0, 0), 255),
            ((0, 0, 0, 255), 0),
            ((255, 0, 0, 0), (0, 255, 255)),
        ):
            path = saved(tmp_path / name, Image.new("CMYK", (16, 16), ink))
            np.testing.assert_allclose(
                read_image(path).pixels, np.full((16, 16, 3), colour), atol=2
            )


def test_first_frame_and_first_page(tmp_path, photo):
    frames = [Image.fromarray(photo), Image.fromarray(255 - photo)]
    for name, options in (("a.webp", {"lossless": True}), ("a.tif", {}), ("a.png", {})):
        path = saved(tmp_path / name, frames[0], save_all=True, append_images=frames[1:], **options)
        np.testing.assert_array_equal(read_image(path).pixels, photo)
    stack = np.zeros((3, 16, 17), np.uint16)
    tifffile.imwrite(tmp_path / "stack.tif", stack, photometric="minisblack")
    assert read_image(tmp_path / "stack.tif").size == (16, 17)


@pytest.mark.parametrize("orientation", range(1, 9))
@pytest.mark.parametrize(
    "kind", ["a.jpg", "a.png", "a.webp", "a.tif", "deep.png", "deep.tif", "lzw.tif"]
)
def test_orientation(tmp_path, photo, kind, orientation):
    """The upright photo, stored as each of the eight orientations, comes back upright."""
    transpose, method = Image.Transpose, {}
    method[2], method[3] = transpose.FLIP_LEFT_RIGHT, transpose.ROTATE_180
    method[4], method[5] = transpose.FLIP_TOP_BOTTOM, transpose.TRANSPOSE
    # To be turned right to become upright: stored turned left; and the reverse.
    method[6], method[7], method[8] = (
        transpose.ROTATE_90,
        transpose.TRANSVERSE,
        transpose.ROTATE_270,
    )
    upright = Image.fromarray(photo)
    stored = upright.transpose(method[orientation]) if orientation > 1 else upright
    path, exif = tmp_path / kind, Image.Exif()
    exif[0x0112] = orientation
    if kind.startswith("deep") or kind.startswith("lzw"):
        write_deep(path, np.asarray(stored), exif, compress=kind.startswith("lzw"))
    else:
        lossless = {"lossless": True} if kind == "a.webp" else {}
        saved(path, stored, exif=exif, quality=100, subsampling=0, **lossless)
    loaded = read_image(path)
    assert loaded.size == (HEIGHT, WIDTH)
    np.testing.assert_allclose(loaded.pixels, photo.astype(int), atol=6 if kind == "a.jpg" else 0)
    reduced = read_image(path, HEIGHT * WIDTH // 4)
    assert reduced.size == (HEIGHT, WIDTH) and reduced.pixels.shape == (HEIGHT // 2, WIDTH // 2, 3)


def write_deep(path: Path, pixels: np.ndarray, exif: Image.Exif, compress: bool) -> None:
    """Write RGB as 16-bit, with an orientation, as no one library does for all three kinds."""
    deep = pixels.astype(np.uint16) * 257
    tag = (0x0112, "H", 1, exif[0x0112], True)
    if path.suffix == ".tif" and not compress:
        tifffile.imwrite(path, deep, photometric="rgb", extratags=[tag])
    elif path.suffix == ".tif":
        content = cv2.imencode(".tif", deep[..., ::-1])[1].tobytes()  # LZW is its default
        path.write_bytes(with_tiff_orientation(content, exif[0x0112]))
    else:
        content = cv2.imencode(".png", deep[..., ::-1])[1].tobytes()
        path.write_bytes(with_png_exif(content, exif.tobytes()))


def with_png_exif(content: bytes, exif: bytes) -> bytes:
    body = b"eXIf" + exif.removeprefix(b"Exif\0\0")
    chunk = (len(body) - 4).to_bytes(4, "big") + body + zlib.crc32(body).to_bytes(4, "big")
    return content[:33] + chunk + content[33:]  # after the header


def with_tiff_orientation(content: bytes, orientation: int) -> bytes:
    """Append a copy of the (little-endian) directory with one more entry, and point to it."""
    start = int.from_bytes(content[4:8], "little")
    count = int.from_bytes(content[start : start + 2], "little")
    entries = [content[start + 2 + 12 * i :][:12] for i in range(count)]
    entries.append(struct.pack("<HHIHH", 0x0112, 3, 1, orientation, 0))
    entries.sort(key=lambda entry: int.from_bytes(entry[:2], "little"))
    directory = struct.pack("<H", count + 1) + b"".join(entries) + bytes(4)
    return content[:4] + struct.pack("<I", len(content)) + content[8:] + directory


def test_sixteen_bits_use_the_whole_range(tmp_path, photo):
    deep = photo.astype(np.uint16) * 257
    grey = np.repeat(photo[..., :1], 3, axis=2)
    cv2.imwrite(str(tmp_path / "rgb.png"), deep[..., ::-1])
    cv2.imwrite(str(tmp_path / "lzw.tif"), deep[..., ::-1])
    tifffile.imwrite(tmp_path / "rgb.tif", deep, photometric="rgb", byteorder=">")
    planes = np.moveaxis(deep, -1, 0)
    tifffile.imwrite(tmp_path / "planar.tif", planes, photometric="rgb", planarconfig="separate")
    tifffile.imwrite(
        tmp_path / "big.tif", deep, photometric="rgb", bigtiff=True, compression="zlib"
    )
    for name in ("rgb.png", "lzw.tif", "rgb.tif", "planar.tif", "big.tif"):
        np.testing.assert_array_equal(read_image(tmp_path / name).pixels, photo, err_msg=name)
    for name in ("grey.png", "grey.tif", "grey.pgm"):
        cv2.imwrite(str(tmp_path / name), deep[..., 0])
        np.testing.assert_array_equal(read_image(tmp_path / name).pixels, grey, err_msg=name)
    tifffile.imwrite(tmp_path / "white.tif", 65535 - deep[..., 0], photometric="miniswhite")
    np.testing.assert_array_equal(read_image(tmp_path / "white.tif").pixels, grey)


def test_twelve_bits_in_sixteen_are_not_black(tmp_path, photo):
    twelve = np.rint(photo.astype(float) * (4095 / 255)).astype(np.uint16)
    tifffile.imwrite(tmp_path / "rgb.tif", twelve, photometric="rgb")
    cv2.imwrite(str(tmp_path / "rgb.png"), twelve[..., ::-1])
    for name in ("rgb.tif", "rgb.png"):
        np.testing.assert_array_equal(read_image(tmp_path / name).pixels, photo)


def test_sixteen_bit_alpha(tmp_path):
    bgra = np.array([[[0, 0, 65535, 65535], [0, 0, 65535, 0]]] * 2, np.uint16)
    cv2.imwrite(str(tmp_path / "a.png"), bgra)
    rgba = bgra[..., [2, 1, 0, 3]]
    tifffile.imwrite(tmp_path / "a.tif", rgba, photometric="rgb", extrasamples=["unassalpha"])
    for name in ("a.png", "a.tif"):
        loaded = read_image(tmp_path / name)
        np.testing.assert_array_equal(loaded.pixels[0], [[255, 0, 0], [255, 255, 255]])


def test_float_tiff_with_holes(tmp_path, photo):
    values = photo.astype(np.float32) / 255
    values[0, 0], values[0, 1], values[0, 2] = np.nan, np.inf, -np.inf
    tifffile.imwrite(tmp_path / "a.tif", values, photometric="rgb")
    pixels = read_image(tmp_path / "a.tif").pixels
    np.testing.assert_array_equal(pixels[1:], photo[1:])
    np.testing.assert_array_equal(pixels[0, :3, 0], [0, 255, 0])


@pytest.mark.parametrize("dtype", ["float16", "float64", "int16", "int32", "uint32"])
def test_physical_units_are_stretched(tmp_path, dtype):
    ramp = np.linspace(-3000, 3000, 64 * 64).reshape(64, 64)
    values = (ramp + 3000) * 1000 if dtype == "uint32" else ramp
    tifffile.imwrite(tmp_path / "a.tif", values.astype(dtype))
    pixels = read_image(tmp_path / "a.tif").pixels
    assert pixels[0, 0, 0] == 0 and pixels[-1, -1, 0] == 255
    np.testing.assert_allclose(pixels[..., 0], np.linspace(0, 255, 64 * 64).reshape(64, 64), atol=2)


def test_many_channels_show_the_first_three(tmp_path, photo):
    bands = np.concatenate([photo, photo[..., :2]], axis=2)
    tifffile.imwrite(tmp_path / "a.tif", bands, photometric="minisblack", planarconfig="contig")
    np.testing.assert_array_equal(read_image(tmp_path / "a.tif").pixels, photo)


@pytest.mark.parametrize("name", ["a.jpg", "a.png", "a.tif", "deep.tif"])
@pytest.mark.parametrize("max_pixels", [1, 7, 1000, 60_001, 241_000])
def test_reduction_keeps_aspect_mean_and_place(tmp_path, name, max_pixels):
    rows, columns = np.mgrid[:401, :603]
    smooth = np.stack([columns / 602, rows / 400, 0.5 + 0 * rows], axis=-1) * 255
    smooth = np.rint(smooth).astype(np.uint8)
    if name == "deep.tif":
        tifffile.imwrite(tmp_path / name, smooth.astype(np.uint16) * 257, photometric="rgb")
    else:
        saved(tmp_path / name, smooth, quality=98, subsampling=0)
    loaded = read_image(tmp_path / name, max_pixels)
    height, width = loaded.pixels.shape[:2]
    assert loaded.size == (401, 603) and 0.4 * max_pixels <= height * width <= max_pixels
    across = (np.arange(width) + 0.5) / width * 255
    down = (np.arange(height) + 0.5) / height * 255
    expected = np.stack(np.broadcast_arrays(across, down[:, None], 127.5), axis=-1)
    np.testing.assert_allclose(loaded.pixels, expected, atol=5 if name == "a.jpg" else 2)


def test_reduction_averages_rather_than_skips(tmp_path):
    stripes = np.zeros((512, 512), np.uint8)
    stripes[:, ::2] = 255
    for name in ("a.png", "a.jpg"):
        reduced = read_image(saved(tmp_path / name, stripes, quality=95), 64 * 64).pixels
        np.testing.assert_allclose(reduced, 127.5, atol=3)


@pytest.mark.parametrize("size", [(1, 1), (1, 32), (3000, 1), (1, 3000)])
@pytest.mark.parametrize("name", ["a.jpg", "a.png"])
def test_thin_images(tmp_path, size, name):
    loaded = read_image(saved(tmp_path / name, np.full((*size, 3), 77, np.uint8)), 100)
    assert loaded.size == size
    assert 1 <= loaded.pixels.shape[0] * loaded.pixels.shape[1] <= 100
    np.testing.assert_allclose(loaded.pixels, 77, atol=1)


def test_small_images_are_not_enlarged(tmp_path, photo):
    pixels = read_image(saved(tmp_path / "a.png", photo), 10_000_000).pixels
    np.testing.assert_array_equal(pixels, photo)


@pytest.mark.parametrize(
    ("name", "mode", "limit_mb"),
    [("a.jpg", "RGB", 150), ("a.png", "1", 250)],
)
def test_hundred_megapixels_in_bounded_memory(tmp_path, name, mode, limit_mb):
    """Peak memory above the imports; in RGB the image would take 300 MB, and 400 in Pillow."""
    saved(tmp_path / name, Image.new(mode, (12500, 8000)))
    script = (
        "import json, resource, sys\n"
        "from partdino.images import read_image\n"
        "peak = lambda: resource.getrusage(resource.RUSAGE_SELF).ru_maxrss\n"
        "before = peak()\n"
        "loaded = read_image(sys.argv[1], 1_000_000)\n"
        "print(json.dumps([loaded.size, loaded.pixels.shape, peak() - before]))\n"
    )
    command = [sys.executable, "-c", script, str(tmp_path / name)]
    run = subprocess.run(command, capture_output=True, text=True, check=True)
    size, shape, kilobytes = json.loads(run.stdout)
    assert size == [8000, 12500] and shape == [800, 1250, 3]
    assert run.stderr == ""
    assert kilobytes / 1024 < limit_mb * (1024 if sys.platform == "darwin" else 1)


def test_pixel_limit_is_ours_and_clear(tmp_path, photo, monkeypatch):
    path = saved(tmp_path / "a.png", photo)
    tifffile.imwrite(tmp_path / "deep.tif", photo.astype(np.uint16), photometric="rgb")
    monkeypatch.setattr(Image, "MAX_IMAGE_PIXELS", 100)
    monkeypatch.setattr(read, "_STRIP_PIXELS", 1)  # strips have to stay below Pillow's limit
    assert read_image(path).size == (HEIGHT, WIDTH)
    assert Image.MAX_IMAGE_PIXELS == 100  # other users of Pillow keep their own limit
    monkeypatch.setattr(decode, "MAX_PIXELS", HEIGHT * WIDTH - 1)
    for name in ("a.png", "deep.tif"):
        assert reason(tmp_path / name).startswith(f"{WIDTH} x {HEIGHT} pixels, over the limit")


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("a.jpg", {}),
        ("a.jpg", {"progressive": True}),
        ("a.png", {}),
        ("a.webp", {}),
        ("a.tif", {}),
        ("a.tif", {"compression": "tiff_lzw"}),
        ("a.bmp", {}),
        ("a.gif", {}),
        ("a.jp2", {}),
    ],
)
@pytest.mark.parametrize("share", [0.3, 0.7, 0.95])
def test_truncated_files(tmp_path, name, options, share):
    noise = np.random.default_rng(0).integers(0, 256, (64, 64, 3), dtype=np.uint8)
    path = saved(tmp_path / name, noise, **options)
    path.write_bytes(path.read_bytes()[: int(share * path.stat().st_size)])
    assert "truncated" in reason(path)
    assert "truncated" in reason(path, 100)


@pytest.mark.parametrize("name", ["rgb.png", "rgb.tif", "lzw.tif"])
@pytest.mark.parametrize("share", [0.3, 0.9])
def test_truncated_deep_files(tmp_path, name, share, capfd):
    noise = np.random.default_rng(0).integers(0, 65536, (64, 64, 3), dtype=np.uint16)
    path = tmp_path / name
    if name == "rgb.tif":
        tifffile.imwrite(path, noise, photometric="rgb")
    else:
        cv2.imwrite(str(path), noise)
    path.write_bytes(path.read_bytes()[: int(share * path.stat().st_size)])
    assert "truncated" in reason(path)
    assert capfd.readouterr().err == ""


def test_files_that_are_no_images(tmp_path):
    (tmp_path / "empty.jpg").touch()
    assert "empty" in reason(tmp_path / "empty.jpg")
    (tmp_path / "text.jpg").write_text("dear diary")
    assert "not an image" in reason(tmp_path / "text.jpg")
    (tmp_path / "page.png").write_bytes(b"%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 9 9\n")
    assert "not an image" in reason(tmp_path / "page.png")
    (tmp_path / "folder.jpg").mkdir()
    assert "folder" in reason(tmp_path / "folder.jpg")
    assert "no such file" in reason(tmp_path / "missing.jpg")
    os.mkfifo(tmp_path / "pipe.jpg")
    assert "not a regular file" in reason(tmp_path / "pipe.jpg")
    (tmp_path / "loop.jpg").symlink_to("loop.jpg")
    assert "symbolic links" in reason(tmp_path / "loop.jpg")


def test_permission_denied(tmp_path, photo):
    path = saved(tmp_path / "a.png", photo)
    path.chmod(0)
    user = os.geteuid()
    if user == 0:  # root may read everything
        os.seteuid(65534)
    try:
        assert "permission denied" in reason(path)
    finally:
        os.seteuid(user)


def test_a_name_that_is_not_utf8_gives_a_printable_error(tmp_path):
    path = tmp_path / os.fsdecode(b"caf\xe9.jpg")
    path.write_text("text")
    with pytest.raises(ImageError) as caught:
        read_image(path)
    assert rb"caf\xe9.jpg: not an image" in str(caught.value).encode("utf-8")


@pytest.mark.parametrize("exif", [b"Exif\0\0", b"Exif\0\0garbage", b"Exif\0\0MM\0*\0\0\xff\xff"])
@pytest.mark.parametrize("name", ["a.jpg", "a.png", "a.webp"])
def test_damaged_exif_does_not_cost_the_photo(tmp_path, photo, name, exif):
    path = saved(tmp_path / name, photo, exif=exif)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # pytest resets the filter that the package sets
        assert read_image(path).size == (HEIGHT, WIDTH)


@pytest.mark.parametrize("value", [0, 9, 65535])
def test_unknown_orientation_is_ignored(tmp_path, photo, value):
    exif = Image.Exif()
    exif[0x0112] = value
    np.testing.assert_array_equal(
        read_image(saved(tmp_path / "a.png", photo, exif=exif)).pixels, photo
    )


def test_decoders_do_not_warn(tmp_path):
    path = saved(tmp_path / "a.tif", np.zeros((8, 8), np.uint8))
    content = bytearray(path.read_bytes())
    content[-1] = 7
    path.write_bytes(bytes(content) + b"\0")
    script = "import sys; from partdino.images import read_image; read_image(sys.argv[1])"
    command = [sys.executable, "-W", "default", "-c", script, str(path)]
    assert subprocess.run(command, capture_output=True, check=True).stderr == b""
