"""`partdino measure` on a finished run: tables, units, a user's table, photos that are odd."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from segment_runs import SMALL, content, flags, label_map, table, unfinish

from partdino.errors import InputError
from partdino.parts.measures import MEASURES, PartMeasures
from partdino.runs.measures.figure import check_group, collect
from partdino.runs.measures.photo import PhotoMeasures
from partdino.runs.measures.tables import Tables
from partdino.runs.measures.user_table import Joined, UserTable, join


@pytest.fixture(scope="module")
def finished(partdino, photo_folder, tmp_path_factory) -> Path:
    """Eight photos, one turned by EXIF and one named like a formula, and their parts."""
    root = tmp_path_factory.mktemp("measured")
    shutil.copytree(photo_folder, root / "photos")
    first, second, *_ = sorted((root / "photos").rglob("*.*"))
    with Image.open(first) as image:
        upright = image.convert("RGB").crop((0, 0, 160, 120))
    exif = Image.Exif()
    exif[0x0112] = 6
    upright.transpose(Image.Transpose.ROTATE_90).save(first, exif=exif)
    second.rename(second.with_name(f"=1+1{second.suffix}"))
    done = partdino("segment", root / "photos", "--out", root / "out", "-q", *flags(SMALL))
    assert done.code == 0, done.stderr
    return root


def test_tables_agree_with_the_label_maps(partdino, finished, tmp_path):
    done = partdino("measure", finished / "out", "-o", tmp_path, "--workers", 0)
    assert done.code == 0, done.stderr
    rows, photos = table(tmp_path / "measurements.csv"), table(tmp_path / "photos.csv")
    assert len(photos) == 8 and {row["image"] for row in rows} <= {p["image"] for p in photos}
    assert sum(photo["image"].startswith("'=1+1") for photo in photos) == 1
    for row in rows:
        name = row["image"].removeprefix("'")
        labels = label_map(finished / "out", name)
        inside = labels == int(row["part"])
        with Image.open(finished / "photos" / name) as image:
            turned = image.getexif().get(0x0112) == 6
            pixels = np.asarray(image.convert("RGB"))
        pixels = np.rot90(pixels, -1) if turned else pixels
        assert int(row["area_px"]) == inside.sum()
        assert float(row["red_mean"]) == pytest.approx(pixels[inside][:, 0].mean(), rel=1e-5)
        assert float(row["share_of_object"]) == pytest.approx(
            inside.sum() / (labels > 0).sum(), rel=1e-5
        )


def test_scale_metadata_and_workbook(partdino, finished, tmp_path):
    openpyxl = pytest.importorskip("openpyxl")
    names = sorted(p.name for p in (finished / "photos").rglob("*.*"))
    lines = ["file;species", *(f"{name};{i}" for i, name in enumerate(names[1:])), "no.jpg;x"]
    (tmp_path / "species.csv").write_text("\n".join(lines), encoding="utf-8-sig")
    options = ("--scale", "2px/mm", "--metadata", tmp_path / "species.csv", "--excel")
    done = partdino("measure", finished / "out", "-o", tmp_path / "m", "--workers", 0, *options)
    assert done.code == 0, done.stderr
    assert done.stderr.count("warning") == 1
    assert "no row for 1 of the photos" in done.stderr and "1 rows of" in done.stderr
    for row in table(tmp_path / "m" / "measurements.csv"):
        assert float(row["area_mm2"]) == pytest.approx(int(row["area_px"]) / 4)
        assert float(row["axis_major_mm"]) == pytest.approx(float(row["axis_major_px"]) / 2, 1e-4)
        name = row["image"].removeprefix("'")
        assert row["species"] == (str(names.index(name) - 1) if name != names[0] else "")
    book = openpyxl.load_workbook(tmp_path / "m" / "measurements.xlsx")
    assert book["photos"].max_row == 9
    assert all(cell.data_type != "f" for cell in book["photos"]["A"])


def test_segment_measures_if_asked(partdino, finished, tmp_path):
    """What `--measure` writes is what `partdino measure` does, anew after an update."""
    shutil.copytree(finished / "photos", tmp_path / "photos")
    run = ("segment", tmp_path / "photos", "-o", tmp_path / "out", "--measure", *flags(SMALL))
    done = partdino(*run)
    assert done.code == 0, done.stderr
    assert "8 photos, " in done.stderr and "partdino measure " not in done.stderr
    tables = ("measurements.csv", "photos.csv")
    first = {name: (tmp_path / "out" / name).read_bytes() for name in tables}
    assert partdino("measure", tmp_path / "out", "-o", tmp_path / "m", "--workers", 0).code == 0
    assert first == {name: (tmp_path / "m" / name).read_bytes() for name in tables}
    some = min((tmp_path / "photos").rglob("*.jpg"))
    shutil.copy(some, some.with_name("another.jpg"))
    done = partdino("segment", tmp_path / "photos", "-o", tmp_path / "out", "--update", "--measure")
    assert done.code == 0, done.stderr
    assert len(table(tmp_path / "out" / "photos.csv")) == 9


def test_nothing_is_overwritten_unasked(partdino, finished, tmp_path):
    out = tmp_path / "out"
    shutil.copytree(finished / "out", out)
    assert partdino("measure", out, "--workers", 0).code == 0
    again = partdino("measure", out, "--workers", 0)
    assert again.code == 2 and "--overwrite" in again.stderr
    assert partdino("measure", out, "--workers", 0, "--overwrite").code == 0
    nothing = partdino("measure", tmp_path, "--workers", 0)
    assert nothing.code == 2 and "holds no finished run" in nothing.stderr


@pytest.mark.parametrize("folder", ["labels", "overlays/new", ".partdino"])
def test_no_tables_among_the_results(partdino, finished, tmp_path, folder):
    before = content(finished / "out")
    (tmp_path / "link").symlink_to(finished / "out")
    for run in (finished / "out", tmp_path / "link"):
        done = partdino("measure", run, "-o", run / folder, "--workers", 0)
        assert done.code == 2 and f"{run / folder} is inside" in done.stderr
    assert content(finished / "out") == before


@pytest.mark.parametrize("name", ["measurements.csv", "photos.csv", "measurements.xlsx"])
def test_a_table_of_somebody_else_stays(partdino, finished, tmp_path, name):
    if name.endswith("xlsx"):
        openpyxl = pytest.importorskip("openpyxl")
    out, mine = tmp_path / "out", tmp_path / "out" / name
    shutil.copytree(finished / "out", out)
    if name.endswith("xlsx"):
        openpyxl.Workbook().save(mine)
    else:
        mine.write_text("image,odd,mine\na.jpg,2,3\n")
    before = content(out)
    excel = ("--excel",) if name.endswith("xlsx") else ()
    done = partdino("measure", out, "--workers", 0, "--overwrite", *excel)
    assert done.code == 2 and f"{mine} is no" in done.stderr and content(out) == before
    for flag in ("--overwrite", "--resume"):
        done = partdino("segment", finished / "photos", "-o", out, "-q", flag, *flags(SMALL))
        assert done.code == 0, done.stderr
        assert mine.read_bytes() == before[name]
        unfinish(out)
    assert partdino("merge", out, finished / "out", "--overwrite").code == 2
    assert mine.read_bytes() == before[name]


def test_ours_go_with_the_run_that_they_are_of(partdino, finished, tmp_path):
    pytest.importorskip("openpyxl")
    out = tmp_path / "out"
    shutil.copytree(finished / "out", out)
    assert partdino("measure", out, "--workers", 0, "--excel").code == 0
    assert partdino("measure", out, "--workers", 0, "--excel", "--overwrite").code == 0
    assert partdino("measure", out, "--workers", 0, "--overwrite").code == 0
    assert not (out / "measurements.xlsx").exists()  # it would be of other measurements
    done = partdino("segment", finished / "photos", "-o", out, "-q", "--overwrite", *flags(SMALL))
    assert done.code == 0 and not list(out.glob("measure*")) and not (out / "photos.csv").exists()


def test_short_names_match_where_they_are_of_one_photo():
    rows = {"a": ("1",), "b.jpg": ("2",), "x/c.jpg": ("3",)}
    joined = join(
        UserTable(Path("t.csv"), ("v",), rows), ["a.png", "x/b.jpg", "y/b.jpg", "x/c.jpg"]
    )
    assert joined.rows == {"a.png": ("1",), "x/c.jpg": ("3",)}
    assert "no row for 2 of the photos (x/b.jpg, y/b.jpg)" in joined.unmatched


def test_workers_and_what_is_lost_change_no_other_row(partdino, finished, tmp_path):
    run, photos = tmp_path / "run", tmp_path / "photos"
    shutil.copytree(finished / "photos", photos)
    (photos / "bad.jpg").write_text("no image")
    assert partdino("segment", photos, "--out", run, "-q", *flags(SMALL)).code == 1
    lost = sorted(path.name for path in photos.glob("animal*"))[-1]
    (photos / lost).unlink()
    for workers in (0, 2):
        done = partdino("measure", run, "-o", tmp_path / f"{workers}", "--workers", workers)
        assert done.code == 0, done.stderr
    for name in ("measurements.csv", "photos.csv"):
        assert (tmp_path / "0" / name).read_bytes() == (tmp_path / "2" / name).read_bytes()
    rows = {row["image"]: row for row in table(tmp_path / "0" / "photos.csv")}
    assert len(rows) == 9
    assert "failed" in rows["bad.jpg"]["odd"] and "photo not found" in rows[lost]["odd"]
    parts = [row for row in table(tmp_path / "0" / "measurements.csv") if row["image"] == lost]
    assert parts and all(row["red_mean"] == "" and int(row["area_px"]) > 0 for row in parts)


@pytest.mark.parametrize("kind", ["more parts", "16 bits", "colour"])
def test_a_label_map_of_something_else_is_named(partdino, finished, tmp_path, kind):
    run = tmp_path / "run"
    shutil.copytree(finished / "out", run)
    path = sorted((run / "labels").rglob("*.png"))[3]
    labels = np.asarray(Image.open(path)).copy()
    labels[5:9, 5:9] = 200
    made = {"more parts": labels, "16 bits": labels.astype(np.uint16), "colour": labels}
    image = Image.fromarray(made[kind])
    (image.convert("RGB") if kind == "colour" else image).save(path)
    done = partdino("measure", run, "-o", tmp_path / "m", "--workers", 0)
    name = path.relative_to(run / "labels").with_suffix("").as_posix()
    assert done.code == 1 and "unexpected" not in done.stderr
    assert f"the label map of {name}.jpg is of something else" in done.stderr
    assert sum("failed" in row["odd"] for row in table(tmp_path / "m" / "photos.csv")) == 1
    merged = partdino("merge", tmp_path / "merged", run, "--workers", 0)
    assert merged.code == 2 and "is of something else" in merged.stderr.splitlines()[-1]


def test_the_figure_tells_parts_and_groups_apart(partdino, finished, tmp_path):
    names = sorted(p.name for p in (finished / "photos").rglob("*.*"))
    lines = ["file,species,weight", *(f"{n},{'ab'[i % 2]},{i}" for i, n in enumerate(names))]
    (tmp_path / "species.csv").write_text("\n".join(lines))
    measure = ("measure", finished / "out", "--workers", 0, "--metadata", tmp_path / "species.csv")
    done = partdino(*measure, "-o", tmp_path / "m", "--by", "species", "--json")
    assert done.code == 0, done.stderr
    figure = json.loads(done.stdout)["files"][-2:]
    assert figure == [str(tmp_path / "m" / f"measurements.{kind}") for kind in ("png", "svg")]
    again = partdino(*measure, "-o", tmp_path / "n", "--by", "species")
    assert again.code == 0
    for kind in ("png", "svg"):
        first, second = (tmp_path / place / f"measurements.{kind}" for place in "mn")
        assert first.read_bytes() == second.read_bytes()
    alone = partdino("measure", finished / "out", "--workers", 0, "-o", tmp_path / "alone")
    assert alone.code == 0
    svg = (tmp_path / "m" / "measurements.svg").read_bytes()
    assert svg != (tmp_path / "alone" / "measurements.svg").read_bytes()
    wrong = partdino(*measure, "-o", tmp_path / "w", "--by", "nothing")
    assert wrong.code == 2 and "no such column, but species, weight" in wrong.stderr
    no_table = partdino("measure", finished / "out", "-o", tmp_path / "w", "--by", "species")
    assert no_table.code == 2 and "is a column of --metadata" in no_table.stderr


def test_the_figure_draws_what_the_tables_hold():
    part = {name: 1.0 for name in MEASURES}
    photos = [
        PhotoMeasures(
            f"{i}.jpg",
            width=4,
            height=4,
            confidence=(0.5, 0.25),
            parts=(PartMeasures(**{**part, "part": 2, "area_px": 3 + i, "red_mean": None}),),
        )
        for i in range(3)
    ]
    joined = Joined(("kind",), {"0.jpg": ("x",), "2.jpg": ("y",)}, "")
    tables = Tables({1: "part 1", 2: "part 2"}, None, joined, None)
    values = collect(photos, 3, tables, None)
    assert values["area_px"] == {(2, ""): [3, 4, 5]} and values["red_mean"] == {}
    assert values["mean_confidence"] == {(2, ""): [0.25] * 3}
    assert check_group("kind", joined) == ["x", "y"]
    assert collect(photos, 3, tables, "kind")["area_px"] == {(2, "x"): [3], (2, "y"): [5]}
    many = Joined(("kind",), {f"{i}.jpg": (str(i),) for i in range(9)}, "")
    with pytest.raises(InputError, match="9 different values, and a figure shows 1 to 8"):
        check_group("kind", many)
