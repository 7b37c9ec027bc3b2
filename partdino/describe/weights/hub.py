"""The weights of the DINO backbones, in the cache of the Hugging Face hub."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import timm

from partdino.describe.features import hub
from partdino.describe.features.registry import SHORT_NAMES
from partdino.describe.weights.catalogue import CATALOGUE
from partdino.errors import WeightsError
from partdino.files import file_sha256

# Millions of parameters, to tell the size of a download beforehand. The hub holds 4 bytes for each.
_MILLIONS = {
    "dino-s16": 21.7,
    "dino-s8": 21.7,
    "dino-b16": 85.8,
    "dino-b8": 85.8,
    "dinov2-s14": 22.1,
    "dinov2-b14": 86.6,
    "dinov2-l14": 304.4,
    "dinov2-g14": 1136.5,
    "dinov2-s14-reg": 22.1,
    "dinov2-b14-reg": 86.6,
    "dinov2-l14-reg": 304.4,
    "dinov2-g14-reg": 1136.5,
    "dinov3-s16": 21.6,
    "dinov3-s16plus": 28.7,
    "dinov3-b16": 85.6,
    "dinov3-l16": 303.1,
    "dinov3-h16plus": 840.5,
    "dinov3-7b16": 6716.0,
    "dinov3-l16-sat": 303.1,
    "dinov3-7b16-sat": 6716.0,
    "dinov3-convnext-tiny": 27.8,
    "dinov3-convnext-small": 49.5,
    "dinov3-convnext-base": 87.6,
    "dinov3-convnext-large": 196.2,
}


@dataclass(frozen=True)
class HubWeights:
    """One backbone's weights file on the hub.

    Attributes
    ----------
    name, purpose, licence
        As `partdino weights list` shows them.
    size
        Bytes: of the file where it is here, else estimated from the number of parameters.
    timm_name
        timm's name of the model.
    """

    name: str
    purpose: str
    licence: str
    size: int
    timm_name: str

    @property
    def source(self) -> str:
        """Where the file comes from."""
        return f"Hugging Face hub: {hub.repository(self.timm_name)}"

    def locate(self) -> Path | None:
        """Return the file in the hub's cache, or None."""
        return hub.cached(self.timm_name)

    def expected_sha256(self, file: Path) -> str | None:
        """Return the hash the file must have, or None where the hub's cache does not tell.

        The cache names the file behind its links by its hash.
        """
        stem = file.resolve().name
        return stem if len(stem) == 64 else None

    def fetch(self) -> Path:
        """Download the file, in place of one that is there; raises `WeightsError`.

        Beside what `hub.fetch` raises, that is where the file that came is damaged.
        """
        file = hub.fetch(self.timm_name, anew=self.locate() is not None)
        expected = self.expected_sha256(file)
        if expected is not None and file_sha256(file) != expected:
            raise WeightsError(
                f"what the hub sent for {self.name} is not the expected file (its SHA-256 is "
                f"wrong); try again with `partdino weights pull {self.name}`"
            )
        return file


def hub_weights() -> dict[str, HubWeights]:
    """Return the weights of every backbone that has a short name and comes from the hub."""
    # An older timm lacks some.
    names = (n for n in SHORT_NAMES if n not in CATALOGUE and timm.is_model(SHORT_NAMES[n]))
    return {name: _describe(name, SHORT_NAMES[name]) for name in names}


def _describe(name: str, timm_name: str) -> HubWeights:
    file = hub.cached(timm_name)
    size = file.stat().st_size if file else int(_MILLIONS[name] * 4e6)
    config = timm.get_pretrained_cfg(timm_name)
    licence = (config and config.license) or "unknown"
    return HubWeights(name, "backbone", licence, size, timm_name)
