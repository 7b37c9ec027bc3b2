"""A bucket behind the API of S3: listed in pages, once, and its ETags looked at."""

from __future__ import annotations

import io
from collections import Counter
from unittest.mock import patch

import numpy as np
import pytest
from fsspec.asyn import sync_wrapper
from PIL import Image
from segment_runs import DESCRIBING, content, flags

from partdino.describe.photos import find_photos
from partdino.images import ImageError, find_images, read_image
from partdino.images.find import search_images

s3fs = pytest.importorskip("s3fs", reason="pip install s3fs")
server = pytest.importorskip("moto.server", reason="pip install 'moto[server]'")

PAGE = 100  # keys
KEYS = 2 * PAGE + 30
SMALL_FLAGS = flags(DESCRIBING)


def png(level: int = 0) -> bytes:
    stream = io.BytesIO()
    Image.fromarray(np.full((4, 6, 3), level, np.uint8)).save(stream, "PNG")
    return stream.getvalue()


@pytest.fixture(scope="module")
def service():
    """A server on this machine, that all URLs of S3 lead to."""
    running = server.ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    running.start()
    with pytest.MonkeyPatch.context() as environment:
        _, port = running.get_host_and_port()
        environment.setenv("MOTO_S3_DEFAULT_MAX_KEYS", f"{PAGE}")
        environment.setenv("AWS_ENDPOINT_URL", f"http://127.0.0.1:{port}")
        environment.setenv("AWS_ACCESS_KEY_ID", "testing")
        environment.setenv("AWS_SECRET_ACCESS_KEY", "testing")
        environment.setenv("AWS_DEFAULT_REGION", "us-east-1")
        s3fs.S3FileSystem.clear_instance_cache()
        yield
        s3fs.S3FileSystem.clear_instance_cache()
    running.stop()


@pytest.fixture
def bucket(service, tmp_path):
    """A bucket that no other test has; return its name."""
    name = tmp_path.name.replace("_", "-")[-60:].strip("-")
    filesystem = s3fs.S3FileSystem()
    filesystem.mkdir(name)
    return name


@pytest.fixture
def calls():
    """Count what is asked of the service."""
    counted: Counter[str] = Counter()
    ask = s3fs.S3FileSystem._call_s3

    async def count(self, method, *arguments, **named):
        counted[method] += 1
        return await ask(self, method, *arguments, **named)

    with (
        patch.object(s3fs.S3FileSystem, "_call_s3", count),
        patch.object(s3fs.S3FileSystem, "call_s3", sync_wrapper(count)),
    ):
        yield counted


def put(bucket: str, key: str, data: bytes) -> None:
    s3fs.S3FileSystem().call_s3("put_object", Bucket=bucket, Key=key, Body=data)


def test_a_flat_prefix_is_listed_in_pages_and_once(bucket, calls, tmp_path):
    for number in range(KEYS):
        put(bucket, f"photos/{number:05}.png", b"x")
    for other in ("photos/notes.TXT", "photos/.hidden.png", "photos/sub/", "elsewhere/a.png"):
        put(bucket, other, b"x")
    put(bucket, "photos/old/run.json", b"{}")
    put(bucket, "photos/old/labels/a.png", b"x")
    calls.clear()
    images, unread = search_images([f"s3://{bucket}/photos"], keep=tmp_path)
    assert [image.name for image in images] == [f"{number:05}.png" for number in range(KEYS)]
    assert unread == {".txt": 1}
    assert calls == {"list_objects_v2": 3}
    again, unread = search_images([f"s3://{bucket}/photos"], keep=tmp_path)
    assert list(again) == list(images) and unread == {".txt": 1}
    assert calls == {"list_objects_v2": 3}
    assert not s3fs.S3FileSystem().dircache


def test_a_single_key_and_an_empty_bucket(bucket):
    with pytest.raises(Exception, match="no images in"):
        find_images([f"s3://{bucket}"])
    put(bucket, "a.jpg.bin", png())
    found = find_images([f"s3://{bucket}/a.jpg.bin"])
    assert [image.name for image in found] == ["a.jpg.bin"]
    assert find_images([f"s3://{bucket}/a.jpg.bin", f"s3://{bucket}"]) == found


def test_what_is_replaced_after_it_was_listed_is_not_read(bucket, tmp_path):
    put(bucket, "a.png", png(1))
    put(bucket, "b.png", png(2))
    a, b = find_photos([f"s3://{bucket}"], tmp_path)[0]
    put(bucket, "b.png", png(3))
    assert a.image(100).pixels[0, 0, 0] == 1
    with pytest.raises(ImageError, match="replaced after it was listed"):
        b.image(100)
    assert read_image(b.path).pixels[0, 0, 0] == 3  # of no version
    put(bucket, "a.png", png(1))  # the same content again, at another time
    assert a.image(100).pixels[0, 0, 0] == 1


def test_a_run_goes_on_with_its_list_and_a_finished_one_lists_anew(
    bucket, partdino, photo_folder, tmp_path, calls
):
    photos = sorted(photo_folder.iterdir())
    for photo in photos[:4]:
        put(bucket, photo.name, photo.read_bytes())
    out, lists = tmp_path / "store", tmp_path / "store" / ".partdino.lists"
    command = ("features", f"s3://{bucket}", "--out", out, *SMALL_FLAGS)

    class Killed(BaseException):
        pass

    def kill(*_):
        raise Killed

    with patch("partdino.runs.store.writing.StoreWriter.finish", kill), pytest.raises(Killed):
        partdino(*command)
    assert len(list(lists.glob("*.sqlite"))) == 1
    put(bucket, photos[4].name, photos[4].read_bytes())  # too late for this run
    put(bucket, photos[0].name, photos[5].read_bytes())  # it has been described
    calls.clear()
    done = partdino(*command, "--resume")
    assert (done.code, calls["list_objects_v2"]) == (0, 0), done.stderr
    assert "4 of 4 images are described" in done.stderr and not lists.exists()
    done = partdino(*command, "--resume")
    assert "5 of 5 images are described" in done.stderr
    assert "1 images have changed" in done.stderr
    whole = tmp_path / "whole"
    assert partdino("features", f"s3://{bucket}", "--out", whole, *SMALL_FLAGS).code == 0
    assert content(out) == content(whole)


def test_shards_share_a_list(bucket, partdino, photo_folder, tmp_path, calls):
    photos = sorted(photo_folder.iterdir())[:2]
    for photo in photos:
        put(bucket, photo.name, photo.read_bytes())
    calls.clear()
    for number in (1, 2):
        out, shard = tmp_path / f"store-{number}", f"{number}/2"
        command = ("features", f"s3://{bucket}", "--out", out, "--shard", shard, *SMALL_FLAGS)
        assert partdino(*command, "--lists", tmp_path / "lists").code == 0
    assert (calls["list_objects_v2"], calls["get_object"]) == (1, 2)
    (kept,) = (tmp_path / "lists").glob(".partdino.*.sqlite")
    kept.write_bytes(b"nothing")
    done = partdino(*command, "--lists", tmp_path / "lists", "--overwrite")
    assert done.code == 2 and f"{kept} is damaged" in done.stderr
