"""``partdino synth``: synthetic photos with exact part masks and keypoints."""

from __future__ import annotations

import shlex
from enum import Enum
from pathlib import Path
from typing import Annotated

import typer

from partdino.cli.console import Reporter


class LayoutChoice(str, Enum):
    """Values of ``--layout``."""

    all = "all"
    photos = "photos"
    cub = "cub"
    celeba = "celeba"
    coco = "coco"


def synth(
    out: Annotated[
        Path, typer.Argument(metavar="OUT", help="Folder to write to.", show_default=False)
    ],
    layout: Annotated[
        LayoutChoice,
        typer.Option(
            metavar="NAME",
            help="photos, cub, celeba or coco: written to OUT; all: each in a sub-folder of OUT.",
        ),
    ] = LayoutChoice.all,
    images: Annotated[int, typer.Option(min=4, metavar="N", help="Images in each data set.")] = 24,
    seed: Annotated[
        int, typer.Option(min=0, metavar="S", help="The same seed gives the same images.")
    ] = 0,
    size: Annotated[
        int, typer.Option(min=64, max=4096, metavar="PX", help="Longer side of an image in pixels.")
    ] = 320,
    overwrite: Annotated[
        bool, typer.Option("--overwrite", help="Replace what an earlier 'partdino synth' wrote.")
    ] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Say nothing.")] = False,
) -> None:
    """Render synthetic animals and faces with exact part masks and keypoints.

    They come in the layouts of the benchmarks, to try every command before downloading anything:

    photos: animal photos, and their true label maps to compare with

    cub: birds with the 15 keypoints of CUB-200-2011

    celeba: faces with 5 landmarks, aligned and in the wild, with the MAFL lists

    coco: animals with part masks in COCO format, as in PartImageNet
    """
    from partdino.evaluation.synth import LAYOUTS, prepare_folder, write_layout

    everything = layout is LayoutChoice.all
    roots = {name: out / name for name in LAYOUTS} if everything else {layout.value: out}
    for root in roots.values():
        prepare_folder(root, overwrite=overwrite)
    reporter = Reporter(quiet)
    for name, root in roots.items():
        with reporter.progress(name, images) as done:
            write_layout(name, root, images=images, seed=seed, size=size, done=done)
        reporter.say(f"{root}: {images} {LAYOUTS[name].contents}")
    reporter.say("next:")
    for name, root in roots.items():
        reporter.say("  " + LAYOUTS[name].next_command.format(root=shlex.quote(str(root))))
