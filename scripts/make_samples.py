"""Make the sample photos that come with the project, from the originals of a folder.

    python scripts/make_samples.py ORIGINALS [OUT]        (default: data/samples/birds)

ORIGINALS holds photos in the public domain and ATTRIBUTION.tsv (file, name, license, artist).
Paintings are left out. What is there already in OUT is replaced.
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
SIDE = 640  # pixels of the longer side, at most
PAINTINGS = ("golden-winged_warbler.jpg", "mourning_warbler.jpg", "townsend's_solitaire.jpg")


def shrink(source: Path, target: Path) -> None:
    """Write a photo as a JPEG that is upright, small and without anything but its pixels."""
    with Image.open(source) as photo:
        small = ImageOps.exif_transpose(photo).convert("RGB")
    small.thumbnail((SIDE, SIDE), Image.Resampling.LANCZOS)
    with atomic_path(target) as temporary:
        small.save(temporary, "JPEG", quality=86, optimize=True)


def main(originals: Path, out: Path) -> None:
    """Write the photos and what is owed to whom."""
    with (originals / "ATTRIBUTION.tsv").open(encoding="utf-8", newline="") as stream:
        rows = [row for row in csv.DictReader(stream, delimiter="\t")]
    kept = sorted((row for row in rows if row["file"] not in PAINTINGS), key=lambda r: r["file"])
    for row in kept:
        shrink(originals / row["file"], out / row["file"].replace("'", ""))
    with atomic_path(out / "ATTRIBUTION.tsv") as temporary:
        lines = ["\t".join(rows[0])]
        for row in kept:
            artist = html.unescape(re.sub("<[^>]*>", "", row["artist"]))
            lines.append(
                "\t".join([row["file"].replace("'", ""), row["name"], row["license"], artist])
            )
        temporary.write_text("\n".join(lines) + "\n", encoding="utf-8")
    size = sum(file.stat().st_size for file in out.iterdir())
    print(f"{out}: {len(kept)} photos, {size / 1e6:.1f} MB")


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]) if len(sys.argv) > 2 else DEFAULT_OUT)
