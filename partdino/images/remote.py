"""Images behind a URL: on any file system that fsspec knows, such as S3, or in an archive."""

from __future__ import annotations

import os
import posixpath
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any

from fsspec import AbstractFileSystem
from fsspec.core import split_protocol, url_to_fs

from partdino.errors import InputError

_LOCAL = ("file", "local")
_PACKAGES = {
    **dict.fromkeys(("s3", "s3a"), "s3fs"),
    **dict.fromkeys(("gs", "gcs"), "gcsfs"),
    **dict.fromkeys(("az", "abfs"), "adlfs"),
    **dict.fromkeys(("http", "https"), "aiohttp requests"),
}
# What file systems say of a file that another version of it would not have; each says some of it.
_HASHES = ("ETag", "etag", "md5Hash", "content_md5", "CRC")
_VERSION = (
    *("size", *_HASHES, "mtime", "LastModified"),
    *("last_modified", "updated", "created"),
)


@dataclass(frozen=True, slots=True)
class RemoteFile:
    """A file behind a URL.

    Attributes
    ----------
    url
        Where it is.
    version
        Changes with its content.
    """

    url: str
    version: str


class ReplacedError(Exception):
    """A file behind a URL is another one than the one that was listed."""


def as_location(given: Path | str) -> Path | str:
    """Return a path, that of a ``file://`` URL too, or else a URL, which is text."""
    if not is_url(given):
        return Path(given)
    protocol, path = split_protocol(given)
    return Path(path) if protocol in _LOCAL else given


def is_url(location: Path | str) -> bool:
    """Tell a URL from a path: a `Path` is never one."""
    return isinstance(location, str) and "://" in location


def tree_path(location: Path | str) -> str:
    """Return a place in one tree for all paths and URLs.

    That of a path is the absolute path; ``s3://bucket/a.jpg`` is at ``/s3/bucket/a.jpg``, and what
    is in an archive is below the archive.
    """
    if not is_url(location):
        return os.path.abspath(location)
    *archived, outermost = str(location).split("::")
    inside = (link.partition("://")[2] for link in reversed(archived))
    places = (place.strip("/") for place in (outermost.replace("://", "/"), *inside))
    return posixpath.normpath(posixpath.join("/", *places))


def remote_folder(url: str) -> tuple[str, Iterator[list[RemoteFile]]]:
    """Find what is behind a URL: the files of a folder, at any depth, or a single file.

    A folder is listed in pages while they are asked for, so that one of millions takes no memory:
    those of S3 are the service's own, of at most 1,000 keys, elsewhere each is a folder without
    those in it.

    Returns
    -------
    folder
        The `tree_path` of the folder.
    pages
        Its files, without the hidden ones; a single file whatever its name.

    Raises
    ------
    InputError
        There is nothing there, or it cannot be listed; the pages may raise it, too.
    """
    filesystem, path = _open(url)
    with _told(url):
        pages = _pages(filesystem, path)
        if (first := next(pages, None)) is not None:
            return tree_path(url), _visible(filesystem, url, path, chain([first], pages))
        if filesystem.exists(path):
            info = filesystem.info(path)
            if info["type"] == "directory":  # an empty one
                return tree_path(url), iter(())
            return posixpath.dirname(tree_path(url)), iter([[_file(filesystem, url, info)]])
    raise InputError(f"{url} does not exist; check the address")


def fetch(url: str, version: str | None = None) -> bytes:
    """Return the content of a file; raises whatever its file system does.

    Parameters
    ----------
    url
        Where it is.
    version
        The one that is meant, see `RemoteFile`, if any is.

    Raises
    ------
    ReplacedError
        It is another file by now, by the hash that its file system tells (the ETag of S3).
    """
    filesystem, path = url_to_fs(url)
    content = filesystem.cat_file(path)
    if version is not None and (known := _hashes(version)):
        # Afterwards: what was replaced before or meanwhile is seen.
        now = _hashes(_version(filesystem.info(path)))
        if any(now[key] != known[key] for key in known if key in now):
            raise ReplacedError(url)
    return content


def _open(url: str) -> tuple[AbstractFileSystem, str]:
    try:
        return url_to_fs(url)
    except ImportError as error:
        package = _PACKAGES.get(split_protocol(url)[0])
        cure = f"pip install {package}" if package else _words(error)
        raise InputError(f"{url} needs a package that is not installed: {cure}") from error
    except Exception as error:
        raise InputError(f"{url} cannot be opened ({_words(error)}); check the address") from error


@contextmanager
def _told(url: str) -> Iterator[None]:
    """Turn what a file system raises, each exceptions of its own, into `InputError`."""
    try:
        yield
    except InputError:
        raise
    except Exception as error:
        raise InputError(
            f"{url} cannot be listed ({_words(error)}); check the address and your credentials"
        ) from error


def _pages(filesystem: AbstractFileSystem, path: str) -> Iterator[list[dict[str, Any]]]:
    """Yield what the file system says of the files below a folder; nothing if it is none."""
    if hasattr(filesystem, "call_s3"):
        yield from _pages_of_s3(filesystem, path)
    elif filesystem.isdir(path):
        for _, _, files in filesystem.walk(path, detail=True, on_error="raise"):
            yield list(files.values())
            filesystem.invalidate_cache()  # some keep every folder that they have listed


def _pages_of_s3(filesystem: Any, path: str) -> Iterator[list[dict[str, Any]]]:
    bucket, key, _ = filesystem.split_path(path)
    asked = {"Bucket": bucket, "Prefix": f"{key.rstrip('/')}/" if key else ""}
    while True:
        page = filesystem.call_s3("list_objects_v2", **asked)
        listed = page.get("Contents", [])
        # A key that ends so stands for a folder.
        files = [each for each in listed if not each["Key"].endswith("/")]
        if listed or page["IsTruncated"]:
            yield [
                {**each, "name": f"{bucket}/{each['Key']}", "size": each["Size"]} for each in files
            ]
        if not page["IsTruncated"]:
            return
        asked["ContinuationToken"] = page["NextContinuationToken"]


def _visible(
    filesystem: AbstractFileSystem, url: str, root: str, pages: Iterable[list[dict[str, Any]]]
) -> Iterator[list[RemoteFile]]:
    with _told(url):
        for page in pages:
            yield [
                _file(filesystem, url, info)
                for info in page
                if not any(part.startswith(".") for part in _inside(info["name"], root).split("/"))
            ]


def _inside(name: str, root: str) -> str:
    return name[len(root) :].strip("/")


def _file(filesystem: AbstractFileSystem, url: str, info: Mapping[str, Any]) -> RemoteFile:
    _, link, archive = url.partition("::")
    return RemoteFile(filesystem.unstrip_protocol(info["name"]) + link + archive, _version(info))


def _version(info: Mapping[str, Any]) -> str:
    return " ".join(f"{key}={info[key]}" for key in _VERSION if info.get(key) is not None)


def _hashes(version: str) -> dict[str, str]:
    """Return what a version says of the content itself, by name."""
    named = (word.partition("=") for word in version.split())
    return {name: value for name, _, value in named if name in _HASHES}


def _words(error: Exception) -> str:
    return " ".join(f"{error or type(error).__name__!s:.150}".split())
