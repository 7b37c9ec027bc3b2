"""Images behind URLs: the same list, names and pixels as those of a local folder."""

from __future__ import annotations

import io
import sys
import zipfile
from pathlib import Path

import fsspec
import numpy as np
import pytest
from PIL import Image

from partdino.describe.photos import find_photos
from partdino.errors import InputError
from partdino.images import ImageError, find_images, read_image


def png(level: int = 0) -> bytes:
    stream = io.BytesIO()
    Image.fromarray(np.full((4, 6, 3), level, np.uint8)).save(stream, "PNG")
    return stream.getvalue()


@pytest.fixture
def bucket(tmp_path):
    """Write files behind a URL that no other test has; return the URL."""
    memory = fsspec.filesystem("memory")
    root = f"/{tmp_path.name}-bucket"
    files = ("b.png", "a/z.PNG", "a/y.png", ".hidden.png", ".cache/c.png", "notes.txt")
    for name in (*files, "old/run.json", "old/labels/b.png.png", "kept/labels/b.png"):
        memory.pipe_file(f"{root}/{name}", png())
    yield f"memory:/{root}"
    memory.rm(root, recursive=True)


def names(*inputs: Path | str) -> list[str]:
    return [image.name for image in find_images(inputs)]


def test_a_url_is_listed_as_a_folder_is(bucket):
    assert names(bucket) == ["a/y.png", "a/z.PNG", "b.png", "kept/labels/b.png"]
    assert names(f"{bucket}/a/") == ["y.png", "z.PNG"]
    assert names(f"{bucket}/notes.txt") == ["notes.txt"]  # taken whatever its suffix


def test_an_image_comes_once_and_is_read_where_it_is(bucket):
    found = find_images([bucket, f"{bucket}/a", f"{bucket}/b.png"])
    assert [image.name for image in found] == names(bucket)
    loaded = [read_image(image.path) for image in found]
    assert {(image.size, image.pixels.shape) for image in loaded} == {((4, 6), (4, 6, 3))}


def test_urls_and_folders_together_have_names_of_their_own(bucket, tmp_path):
    (tmp_path / "b.png").write_bytes(png())
    found = names(f"{bucket}/a", f"{bucket}/kept", tmp_path)
    assert len(set(found)) == 4
    assert f"{bucket.removeprefix('memory://')}/a/y.png" in "".join(f"/{name}" for name in found)


def test_a_list_may_hold_urls(bucket, tmp_path):
    (tmp_path / "x.png").write_bytes(png())
    (tmp_path / "all.txt").write_text(f"{bucket}/a\nx.png\nfile://{tmp_path}/x.png\n")
    assert [name.rsplit("/", 1)[-1] for name in names(tmp_path / "all.txt")] == [
        *("y.png", "z.PNG", "x.png")
    ]


def test_a_file_url_is_the_local_path(tmp_path):
    (tmp_path / "a b.png").write_bytes(png())
    assert find_images([f"file://{tmp_path}"]) == find_images([tmp_path])


def test_archives_are_folders(tmp_path):
    for name in ("one", "two"):
        with zipfile.ZipFile(tmp_path / f"{name}.zip", "w") as archive:
            archive.writestr("in/a.png", png(level=len(name)))
            archive.writestr("in/deep/b.png", png())
    one, two = (f"zip://in::file://{tmp_path}/{name}.zip" for name in ("one", "two"))
    assert names(one) == ["a.png", "deep/b.png"]
    assert read_image(find_images([one])[0].path).pixels[0, 0].tolist() == [3, 3, 3]
    assert names(one, two) == [
        f"{name}.zip/in/{file}" for name in ("one", "two") for file in ("a.png", "deep/b.png")
    ]


def test_another_version_of_a_file_has_another_key(bucket, tmp_path):
    before = list(find_photos([bucket], tmp_path)[0])
    assert before == list(find_photos([bucket], tmp_path)[0])
    fsspec.filesystem("memory").pipe_file(before[2].path.removeprefix("memory:/"), png(level=9))
    after = find_photos([bucket], tmp_path)[0]
    changed = [new.name for old, new in zip(before, after, strict=True) if old.key != new.key]
    assert changed == ["b.png"]


def test_a_file_that_is_gone_or_empty_fails_alone(bucket):
    with pytest.raises(ImageError, match=r"gone\.png: no such file"):
        read_image(f"{bucket}/gone.png")
    fsspec.filesystem("memory").pipe_file(f"{bucket.removeprefix('memory:/')}/none.png", b"")
    with pytest.raises(ImageError, match="the file is empty"):
        read_image(f"{bucket}/none.png")


def test_a_file_system_that_fails_is_a_reason_of_one_line(bucket, monkeypatch):
    def refuse(self, path, **options):
        raise RuntimeError("no\nroute")

    monkeypatch.setattr(type(fsspec.filesystem("memory")), "cat_file", refuse)
    with pytest.raises(ImageError, match=r"cannot be fetched \(no route\)"):
        read_image(f"{bucket}/b.png")
    monkeypatch.setattr(type(fsspec.filesystem("memory")), "ls", refuse)
    with pytest.raises(InputError, match=r"cannot be listed \(no route\); check the address"):
        find_images([bucket])


@pytest.mark.parametrize(
    ("url", "message"),
    [
        ("memory://no/such/folder", "memory://no/such/folder does not exist"),
        ("nowhere://a/b", "nowhere://a/b cannot be opened.*not known"),
        ("zip://a::file:///no/such.zip", "no/such.zip"),
    ],
)
def test_addresses_that_lead_nowhere_are_one_line(url, message):
    with pytest.raises(InputError, match=message) as caught:
        find_images([url])
    assert "\n" not in str(caught.value)


def test_a_missing_package_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "s3fs", None)
    known = sys.modules["fsspec.registry"]._registry
    monkeypatch.delitem(known, "s3", raising=False)  # by an earlier test
    with pytest.raises(InputError, match=r"s3://bucket/folder.*pip install s3fs"):
        find_images(["s3://bucket/folder"])
