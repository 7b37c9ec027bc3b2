"""From inputs to a list: suffixes, hidden entries, links, lists, names and doubles."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from partdino.errors import InputError
from partdino.images.find import ImageFile, find_images, printable


def make(root: Path, *names: str) -> None:
    for name in names:
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()


def names(*inputs: Path, exclude: Path | None = None) -> list[str]:
    return [image.name for image in find_images(inputs, exclude)]


def test_folder_is_searched_recursively_in_byte_order(tmp_path):
    make(tmp_path, "b.jpg", "a/z.PNG", "a/y.JPeG", "B.tif", "é ü/photo 1.webp", "notes.txt", "x")
    assert names(tmp_path) == ["B.tif", "a/y.JPeG", "a/z.PNG", "b.jpg", "é ü/photo 1.webp"]


def test_path_is_the_file_and_name_is_relative(tmp_path, monkeypatch):
    make(tmp_path, "photos/sub/a.jpg")
    monkeypatch.chdir(tmp_path)
    assert find_images([Path("photos")]) == [ImageFile(Path("photos/sub/a.jpg"), "sub/a.jpg")]
    monkeypatch.chdir(tmp_path / "photos")
    assert find_images([Path(".")])[0].name == "sub/a.jpg"
    assert find_images(["../photos/sub"])[0].name == "a.jpg"


def test_hidden_entries_and_folders_named_like_images_are_no_images(tmp_path):
    make(tmp_path, ".a.jpg", ".cache/b.jpg", "folder.jpg/c.png", "d.jpg")
    os.mkfifo(tmp_path / "pipe.jpg")
    assert names(tmp_path) == ["d.jpg", "folder.jpg/c.png"]


def test_a_hidden_folder_that_the_user_names_is_searched(tmp_path):
    make(tmp_path, ".hidden/a.jpg")
    assert names(tmp_path / ".hidden") == ["a.jpg"]


def test_same_name_in_two_folders_and_two_suffixes_stay_apart(tmp_path):
    make(tmp_path, "one/a.jpg", "two/a.jpg", "two/a.png")
    assert names(tmp_path) == ["one/a.jpg", "two/a.jpg", "two/a.png"]
    assert names(tmp_path / "one", tmp_path / "two") == ["one/a.jpg", "two/a.jpg", "two/a.png"]


def test_several_inputs_are_named_from_their_deepest_common_folder(tmp_path):
    make(tmp_path, "x/birds/a.jpg", "y/birds/a.jpg", "y/c.jpg")
    found = names(tmp_path / "x" / "birds", tmp_path / "y" / "birds", tmp_path / "y" / "c.jpg")
    assert found == ["x/birds/a.jpg", "y/birds/a.jpg", "y/c.jpg"]
    assert names(tmp_path / "y" / "c.jpg") == ["c.jpg"]


def test_the_same_file_through_two_inputs_comes_once(tmp_path, monkeypatch):
    make(tmp_path, "a/b/c.jpg", "a/d.jpg")
    monkeypatch.chdir(tmp_path)
    found = names(tmp_path / "a", Path("a/b"), Path("a/../a/d.jpg"), tmp_path / "a" / "b" / "c.jpg")
    assert found == ["b/c.jpg", "d.jpg"]


def test_links_are_followed_and_loops_end(tmp_path):
    make(tmp_path, "real/a.jpg", "real/deep/b.jpg", "outside/far.jpg")
    (tmp_path / "real" / "aa_loop").symlink_to(tmp_path / "real", target_is_directory=True)
    (tmp_path / "real" / "deep" / "up").symlink_to("..", target_is_directory=True)
    (tmp_path / "real" / "linked").symlink_to(tmp_path / "outside", target_is_directory=True)
    (tmp_path / "real" / "0.jpg").symlink_to(tmp_path / "real" / "a.jpg")
    assert names(tmp_path / "real") == ["a.jpg", "deep/b.jpg", "linked/far.jpg"]


def test_a_linked_file_keeps_the_name_of_the_link(tmp_path):
    make(tmp_path, "store/0001.jpg")
    (tmp_path / "set").mkdir()
    (tmp_path / "set" / "cat.jpg").symlink_to("../store/0001.jpg")
    assert names(tmp_path / "set") == ["cat.jpg"]


def test_broken_links_are_listed_so_that_they_are_reported(tmp_path):
    (tmp_path / "gone.jpg").symlink_to("nowhere.jpg")
    assert names(tmp_path) == ["gone.jpg"]


def test_outputs_inside_an_input_are_left_out(tmp_path):
    make(tmp_path, "a.jpg", "out/overlays/a.jpg.jpg", "old/run.json", "old/labels/a.jpg.png")
    make(tmp_path, "old/contact_sheet.jpg", "kept/labels/b.png")
    assert names(tmp_path, exclude=tmp_path / "out") == ["a.jpg", "kept/labels/b.png"]
    with pytest.raises(InputError, match="both input and output"):
        find_images([tmp_path], exclude=tmp_path / "out" / "..")


def test_list_of_paths(tmp_path):
    make(tmp_path, "lists/x.jpg", "lists/sub/y.jpg", "photos/ä b.dat", "photos/z.jpg")
    text = f"# mine\n\n  x.jpg\r\n../photos/ä b.dat\n{tmp_path}/photos/z.jpg\nsub\nmissing.jpg\n"
    (tmp_path / "lists" / "all.TXT").write_bytes(b"\xef\xbb\xbf" + text.encode())
    outside = tmp_path.relative_to("/").as_posix()
    expected = ["missing.jpg", "sub/y.jpg", "x.jpg"]
    expected += [f"{outside}/photos/z.jpg", f"{outside}/photos/ä b.dat"]
    assert names(tmp_path / "lists" / "all.TXT") == sorted(expected)


def test_one_outside_path_in_a_list_renames_no_other_image(tmp_path):
    make(tmp_path, "mine/photos/a.jpg", "mine/photos/b.jpg", "theirs/c.jpg", "theirs/d/e.jpg")
    inside = "photos/a.jpg\nphotos/b.jpg\n"
    listed = tmp_path / "mine" / "all.txt"
    listed.write_text(inside)
    before = names(listed)
    listed.write_text(f"{inside}../theirs\n")
    outside = tmp_path.relative_to("/").as_posix()
    added = [f"{outside}/theirs/c.jpg", f"{outside}/theirs/d/e.jpg"]
    assert names(listed) == sorted(before + added)
    listed.write_text("../theirs\n")  # where all is outside, as a folder
    assert names(listed) == ["c.jpg", "d/e.jpg"]


def test_lines_that_lead_nowhere_move_no_other_image(tmp_path):
    make(tmp_path, "photos/a.jpg", "photos/b.jpg")
    lines = ["photos/a.jpg", "photos/b.jpg", "../../nowhere.jpg", "memory://nothing/x.jpg"]
    (tmp_path / "all.txt").write_text("\n".join([*lines, "none://x/y.jpg"]))
    found = find_images([tmp_path / "all.txt"])
    nowhere = os.path.abspath(tmp_path / "../../nowhere.jpg").lstrip("/")
    expected = {"a.jpg", "b.jpg", nowhere, "memory/nothing/x.jpg", "none/x/y.jpg"}
    assert {image.name for image in found} == expected
    with pytest.raises(InputError, match=r"none://x/y.jpg"):
        find_images(["none://x/y.jpg"])
    (tmp_path / "bad.txt").write_text("gone.jpg")
    assert len(find_images([tmp_path / "bad.txt"])) == 1


def test_a_file_named_by_the_user_is_taken_whatever_its_suffix(tmp_path):
    make(tmp_path, "scan.dat")
    assert names(tmp_path / "scan.dat") == ["scan.dat"]


@pytest.mark.parametrize("name", ["empty", "missing", "missing.txt", "binary.txt", "empty.txt"])
def test_inputs_without_images_are_one_line_errors(tmp_path, name):
    (tmp_path / "empty").mkdir()
    (tmp_path / "binary.txt").write_bytes(b"\0\x01")
    (tmp_path / "empty.txt").touch()
    with pytest.raises(InputError, match=name) as caught:
        find_images([tmp_path / name])
    assert "\n" not in str(caught.value)


def test_an_empty_folder_says_what_was_looked_for(tmp_path):
    with pytest.raises(InputError, match=r"no images in .*\.jpg"):
        find_images([tmp_path])


def test_names_that_are_not_utf8_can_be_printed_and_stay_apart(tmp_path):
    for raw in (b"caf\xe9.jpg", b"caf\xe8.jpg"):
        (tmp_path / os.fsdecode(raw)).touch()
    found = find_images([tmp_path])
    assert [image.name for image in found] == [r"caf\xe8.jpg", r"caf\xe9.jpg"]
    assert all(image.path.exists() for image in found)
    assert printable(found[0].path).encode("utf-8").endswith(rb"caf\xe8.jpg")


def test_two_photos_with_one_name_are_refused(tmp_path):
    for raw in (b"caf\xe9.jpg", rb"caf\xe9.jpg"):  # an odd byte, and the four letters for it
        (tmp_path / os.fsdecode(raw)).touch()
    with pytest.raises(InputError, match=r"caf\\xe9.jpg is the name of two photos.*rename one"):
        find_images([tmp_path])


def test_a_folder_that_cannot_be_listed_is_reported_as_a_failure(tmp_path, monkeypatch):
    make(tmp_path, "a.jpg", "secret/b.jpg")
    scandir = os.scandir

    def refuse(path):
        if str(path).endswith("secret"):
            raise PermissionError(13, "Permission denied", str(path))
        return scandir(path)

    monkeypatch.setattr(os, "scandir", refuse)
    assert names(tmp_path) == ["a.jpg", "secret"]
