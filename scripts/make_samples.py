"""Make the sample photos that the demo runs on, without a download.

    python scripts/make_samples.py [OUT]        (default: data/samples)

- photos/: four photos from scikit-image's wheel, each of something else. Licences as its
  documentation states them: cat (Stefan van der Walt) and coffee (Rachel Michetti) are CC0;
  astronaut (NASA) and rocket (SpaceX) are in the public domain.
- cat/: eight views of that one cat photo (cropped, turned, mirrored, brightened). No collection of
  different cats: it shows that a part keeps its number when it moves.
- animals/: twelve synthetic animals rendered by ``partdino synth``, with their true label maps.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import NamedTuple

from PIL import Image, ImageEnhance, ImageOps
from skimage import data

from partdino.evaluation.synth import prepare_folder, write_layout
from partdino.files import atomic_path

DEFAULT_OUT = Path(__file__).resolve().parents[1] / "data" / "samples"
ANIMALS = 12


class View(NamedTuple):
    """One way to look at a photo: turned, then cropped, then mirrored, then brightened."""

    degrees: float = 0  # counter-clockwise
    share: float = 0.8  # of either side that is kept
    right: float = 0.5  # 0: the left-most crop, 1: the right-most
    down: float = 0.5
    mirror: bool = False
    brightness: float = 1


# The turned ones keep so little that no empty corner shows.
VIEWS = (
    View(share=1),
    View(right=0, down=1, brightness=1.2),
    View(right=1, down=0.2, mirror=True),
    View(share=0.65, right=0.4, down=0.4),
    View(degrees=12, share=0.7),
    View(degrees=-12, share=0.7, mirror=True),
    View(share=0.9, down=0, mirror=True, brightness=0.8),
    View(degrees=-8, share=0.75, brightness=0.9),
)


def look(photo: Image.Image, view: View) -> Image.Image:
    """Return a view of a photo."""
    turned = photo.rotate(view.degrees, Image.Resampling.BICUBIC)
    width, height = round(photo.width * view.share), round(photo.height * view.share)
    left = round((photo.width - width) * view.right)
    top = round((photo.height - height) * view.down)
    cropped = turned.crop((left, top, left + width, top + height))
    mirrored = ImageOps.mirror(cropped) if view.mirror else cropped
    return ImageEnhance.Brightness(mirrored).enhance(view.brightness)


def save(image: Image.Image, path: Path) -> None:
    """Write a JPEG."""
    with atomic_path(path) as temporary:
        image.save(temporary, quality=95)


def main(out: Path) -> None:
    """Write all samples, replacing earlier ones."""
    photos = {
        "astronaut": data.astronaut,
        "cat": data.chelsea,
        "coffee": data.coffee,
        "rocket": data.rocket,
    }
    for name, load in photos.items():
        save(Image.fromarray(load()), out / "photos" / f"{name}.jpg")
    print(f"{out / 'photos'}: {len(photos)} photos from scikit-image (CC0 or public domain)")

    cat = Image.fromarray(data.chelsea())
    for number, view in enumerate(VIEWS, start=1):
        save(look(cat, view), out / "cat" / f"view_{number}.jpg")
    print(f"{out / 'cat'}: {len(VIEWS)} views of the one cat photo")

    prepare_folder(out / "animals", overwrite=True)
    write_layout("photos", out / "animals", images=ANIMALS, seed=0, size=320)
    print(f"{out / 'animals'}: {ANIMALS} synthetic animals with their true label maps")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else DEFAULT_OUT)
