"""Draw what --symmetry does: rendered faces with their parts under auto, together and apart.

python scripts/make_symmetry_figure.py [OUT]        (default: docs/pages/images/symmetry.png)
"""

from __future__ import annotations

import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from PIL import Image, ImageDraw, ImageFont

from partdino import PartDiscovery
from partdino.evaluation.synth import render_face
from partdino.files import atomic_path
from partdino.runs.writers.drawing import draw_parts

DEFAULT_OUT = Path(__file__).resolve().parents[1] / "docs" / "pages" / "images" / "symmetry.png"
FACES, SHOWN, SIDE, PARTS = 12, 4, 150, 8
CAPTION = 26


def render_faces(images: Path, masks: Path) -> list[np.ndarray]:
    """Write faces and the masks of their heads; return the faces."""
    scenes = [render_face(np.random.default_rng(n), 320, 320, size=0.85) for n in range(FACES)]
    for number, scene in enumerate(scenes):
        head = (scene.labels > 0) & (scene.labels != 1 + scene.part_names.index("clothes"))
        for folder, pixels in ((images, scene.image), (masks, np.uint8(255) * head)):
            folder.mkdir(exist_ok=True)
            Image.fromarray(pixels).save(folder / f"{number:02}.png")
    return [scene.image for scene in scenes]


def draw_row(images: Path, masks: Path, faces: list[np.ndarray], symmetry: str) -> Image.Image:
    """Draw one value of the option: its name above some faces."""
    discovery = PartDiscovery(
        parts=PARTS,
        symmetry=symmetry,
        foreground="masks",
        masks=masks,
        backbone="efficientnet-lite2",
        device="cpu",
    )
    results = discovery.fit_predict(images)
    row = Image.new("RGB", (SHOWN * SIDE, CAPTION + SIDE), "white")
    ImageDraw.Draw(row).text((2, 3), f"--symmetry {symmetry}", "black", ImageFont.load_default(16))
    for place in range(SHOWN):
        drawn = Image.fromarray(draw_parts(faces[place], results[place].label_map))
        row.paste(drawn.resize((SIDE, SIDE), Image.Resampling.BOX), (place * SIDE, CAPTION))
    return row


def main(out: Path) -> None:
    """Write the figure."""
    with TemporaryDirectory() as folder:
        images, masks = Path(folder) / "images", Path(folder) / "masks"
        faces = render_faces(images, masks)
        rows = [draw_row(images, masks, faces, name) for name in ("auto", "together", "apart")]
    figure = Image.new("RGB", (SHOWN * SIDE, sum(row.height for row in rows)), "white")
    for place, row in enumerate(rows):
        figure.paste(row, (0, place * row.height))
    with atomic_path(out) as temporary:
        figure.quantize(128).save(temporary, "PNG", optimize=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else DEFAULT_OUT)
