"""The methods paragraph of a report, written from what `run.json` and the review say."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

from partdino.runs.review.apply import reviewed_parts
from partdino.runs.review.state import Review

_HASH = 12  # characters of a sha256 that tell weights apart

_REFERENCES = {
    "hed": "Xie & Tu (2015), Holistically-nested edge detection, ICCV",
    "slic": "Achanta et al. (2012), SLIC superpixels compared to state-of-the-art superpixel "
    "methods, IEEE TPAMI",
    "felzenszwalb": "Felzenszwalb & Huttenlocher (2004), Efficient graph-based image "
    "segmentation, IJCV",
}
# What a backbone's name holds, the more special first.
_BACKBONES = {
    "dinov3": "Siméoni et al. (2025), DINOv3, arXiv:2508.10104",
    "dinov2": "Oquab et al. (2023), DINOv2: learning robust visual features without supervision, "
    "arXiv:2304.07193",
    "dino": "Caron et al. (2021), Emerging properties in self-supervised vision transformers, ICCV",
    "efficientnet": "Tan & Le (2019), EfficientNet: rethinking model scaling for convolutional "
    "neural networks, ICML",
}
_FOREGROUND = {
    "auto": "The object was separated from the background without labels.",
    "none": "All of each photo was taken as object.",
    "masks": "The object was given by masks.",
}
_SYMMETRY = {
    "together": "Parts that mirror each other were kept together.",
    "apart": "Parts that mirror each other were kept apart.",
}


def methods_paragraph(run: Mapping[str, Any], review: Review, num_parts: int) -> str:
    """Return how the parts were found and reviewed, as plain text for a paper.

    Parameters
    ----------
    run
        What `run.json` holds. What it does not say is left out.
    review
        What a person has said.
    num_parts
        K.
    """
    options = run.get("options", {})
    sentences = [
        _found(run, num_parts),
        _described(run, options),
        _FOREGROUND.get(options.get("foreground"), ""),
        _SYMMETRY.get(options.get("symmetry"), ""),
        _counted(run),
        *_reviewed(review, num_parts),
    ]
    return " ".join(sentence for sentence in sentences if sentence)


def references(run: Mapping[str, Any]) -> list[str]:
    """Return the works that the paragraph's stages come from."""
    options = run.get("options", {})
    named = [_REFERENCES.get(options.get(stage)) for stage in ("boundaries", "regions")]
    backbone = str(run.get("weights", {}).get("backbone", ""))
    named.append(next((work for name, work in _BACKBONES.items() if name in backbone), None))
    return sorted(work for work in named if work)


def _found(run: Mapping[str, Any], num_parts: int) -> str:
    asked = run.get("parts", {}).get("asked", num_parts)
    number = f"{num_parts} parts"
    if not isinstance(asked, int):
        number += f" (a number chosen by the method, asked for {asked})"
    torch, seed = run.get("torch"), run.get("options", {}).get("seed")
    version = f"version {run['version']}" if "version" in run else ""
    made = ", ".join(
        text
        for text in (
            version,
            torch and f"PyTorch {torch}",
            seed is not None and f"random seed {seed}",
        )
        if text
    )
    how = "without labels or training"
    return f"The objects were divided into {number} by Part-DINO ({made}), {how}."


def _described(run: Mapping[str, Any], options: Mapping[str, Any]) -> str:
    weights = run.get("weights", {})
    if "backbone" not in weights:
        return ""
    sha256 = str(weights.get("sha256", ""))[:_HASH]
    network = weights["backbone"] + (f" (weights with SHA-256 {sha256}…)" if sha256 else "")
    text = f"Features of the network {network}"
    if "image_size" in options:
        text += f" at an area of {options['image_size']}² pixels"
    if {"regions", "boundaries"} <= set(options):
        edges = options["boundaries"]
        along = "" if edges == "none" else f" along the boundary map {edges}"
        text += f" were averaged in image regions ({options['regions']}{along}"
        text += f", at {options['region_size']}² pixels)" if "region_size" in options else ")"
    else:
        text += " were averaged in image regions"
    return text + " and clustered over the whole collection."


def _counted(run: Mapping[str, Any]) -> str:
    counts = run.get("counts", {})
    if not {"images", "labelled"} <= set(counts):
        return ""
    text = f"Of {counts['images']} photos, {counts['labelled']} were labelled"
    return text + (f"; {counts['failed']} could not be read." if counts.get("failed") else ".")


def _reviewed(review: Review, num_parts: int) -> list[str]:
    parts = reviewed_parts(review, num_parts)
    sentences = [
        f"Parts {_listed(part.members)} were merged by hand into “{part.name}”."
        for part in parts
        if len(part.members) > 1
    ]
    if splits := sorted(review.splits.items()):
        cut = (f"part {split.of} into parts {split.of} and {number}" for number, split in splits)
        sentences.insert(0, f"Split by hand: {', '.join(cut)}.")
    background = sorted(member for part in parts if part.background for member in part.members)
    if background:
        were = "Part {} was" if len(background) == 1 else "Parts {} were"
        sentences.append(f"{were.format(_listed(background))} called background by hand.")
    said: Counter[str] = Counter(review.photos.values())
    if said:
        text = f"A person checked {sum(said.values())} photos"
        told = [
            f"{verb} {said[verdict]}{what}"
            for verdict, verb, what in (("wrong", "found", " wrong"), ("excluded", "excluded", ""))
            if said[verdict]
        ]
        first, last = ", ".join((text, *told[:-1])), f" and {told[-1]}" if told else ""
        sentences.append(f"{first}{last}.")
    if mended := len(review.mended):
        photos = "1 photo was" if mended == 1 else f"{mended} photos were"
        sentences.append(f"{photos} mended by hand.")
    if any(part.name for part in review.parts.values()):
        sentences.append("The names of the parts were given by a person.")
    return sentences


def _listed(numbers: list[int] | tuple[int, ...]) -> str:
    *first, last = map(str, sorted(numbers))
    return f"{', '.join(first)} and {last}" if first else last
