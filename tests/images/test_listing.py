"""The list of found images: each real file once, sorted as text is."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from partdino.errors import InputError
from partdino.images.listing import Found, ImageFile
from partdino.images.remote import RemoteFile


def test_a_file_is_kept_rather_than_a_link_to_it_and_the_first_of_links(tmp_path):
    (tmp_path / "sub").mkdir()
    for name in ("real.jpg", "other.jpg"):
        (tmp_path / name).write_bytes(b"")
    links = [tmp_path / name for name in ("one.jpg", "two.jpg", "three.jpg")]
    for link, target in zip(links, ("real.jpg", "other.jpg", "other.jpg"), strict=True):
        link.symlink_to(target)
    odd = f"{tmp_path}/sub/../real.jpg"
    found = Found()
    found.add(map(str, [links[0], tmp_path / "real.jpg", odd, links[2], links[1]]))
    kept = [file.path for file in found.named(os.path.basename)]
    assert kept == [tmp_path / "real.jpg", links[2]]


def test_names_are_sorted_by_code_points_and_places_are_what_they_were(tmp_path):
    places = [f"{tmp_path}/{name}" for name in ("b", "\U0001f426", "\uff5e", "a\udcff", "B", "a b")]
    found = Found()
    found.add(places)
    found.add_remote([RemoteFile("s3://bucket/é.jpg", "1 x"), RemoteFile("s3://bucket/c", "")])
    files = list(
        found.named(lambda place: place.removeprefix(str(tmp_path)).replace("\udcff", "_"))
    )
    assert [file.name for file in files] == sorted(file.name for file in files)
    assert {file.path for file in files[:-2]} == set(map(Path, places))
    assert files[-2:] == [
        ImageFile("s3://bucket/c", "s3://bucket/c", ""),
        ImageFile("s3://bucket/é.jpg", "s3://bucket/é.jpg", "1 x"),
    ]


def test_two_of_one_name_are_refused():
    found = Found()
    found.add(["/nowhere/a", "/nowhere/b"])
    with pytest.raises(InputError, match="same is the name of two photos"):
        found.named(lambda place: "same")
