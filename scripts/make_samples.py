"""Make the sample photos from public-domain ones: small enough to be kept in the repository.

    python scripts/make_samples.py SOURCE [OUT]        (default: data/samples/birds)

SOURCE is a folder of JPEG files with an ATTRIBUTION.tsv (file, name, license, artist). OUT gets the
photographs, at most 640 pixels a side and without metadata, and the rows of those. Three files of
the folder that this was made from are paintings: they are left out.
"""

from __future__ import annotations

import csv
import html
import re
import sys
from pathlib import Path

from PIL import Image, ImageOps

from partdino.files import atomic_path

DEFAULT_OUT = Path(__file__).resolve().parents[1] / "data" / "samples" / "birds"
ATTRIBUTION = "ATTRIBUTION.tsv"
LONGEST = 640  # pixels
QUALITY = 84
LICENCES = ("Public domain", "CC0")
# By Louis Agassiz Fuertes, each seen by eye.
PAINTINGS = ("golden-winged_warbler.jpg", "mourning_warbler.jpg", "townsend's_solitaire.jpg")


def read_attribution(folder: Path) -> list[dict[str, str]]:
    """Return the rows of the photographs in a folder, by file name; refuse an unknown licence."""
    with (folder / ATTRIBUTION).open(encoding="utf-8", newline="") as file:
        rows = [row for row in csv.DictReader(file, delimiter="\t") if row["file"] not in PAINTINGS]
    for row in rows:
        if row["license"] not in LICENCES:
            raise SystemExit(f"{row['file']}: {row['license']!r} is not among {LICENCES}")
    return sorted(rows, key=lambda row: row["file"])


def plain(text: str) -> str:
    """Return a text without the HTML tags that it came with."""
    return html.unescape(re.sub(r"<[^>]+>", "", text)).strip().rstrip(".")


def shrink(source: Path, target: Path) -> None:
    """Write a photo upright, scaled down, and without metadata."""
    with Image.open(source) as photo:
        upright = ImageOps.exif_transpose(photo).convert("RGB")
    upright.thumbnail((LONGEST, LONGEST), Image.Resampling.LANCZOS)
    upright.info.clear()
    with atomic_path(target) as temporary:
        upright.save(temporary, "JPEG", quality=QUALITY, optimize=True, progressive=True)


def main(source: Path, out: Path) -> None:
    """Write the photographs and what is to be said of each."""
    out.mkdir(parents=True, exist_ok=True)
    rows = read_attribution(source)
    kept = []
    for row in rows:
        name = row["file"].replace("'", "")  # needs no quoting in a shell
        shrink(source / row["file"], out / name)
        kept.append((name, row["name"], row["license"], plain(row["artist"])))
    with (
        atomic_path(out / ATTRIBUTION) as temporary,
        temporary.open("w", encoding="utf-8", newline="") as file,
    ):
        writer = csv.writer(file, delimiter="\t", lineterminator="\n")
        writer.writerows([("file", "name", "license", "artist"), *kept])
    size = sum(path.stat().st_size for path in out.glob("*.jpg"))
    print(f"{out}: {len(kept)} photos, {size / 1e6:.1f} MB")


if __name__ == "__main__":
    if len(sys.argv) not in (2, 3):
        raise SystemExit(__doc__)
    main(Path(sys.argv[1]), Path(sys.argv[2]) if len(sys.argv) == 3 else DEFAULT_OUT)
