"""`store.json`: how a store was made, and which part of the collection it holds."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Collection, Sequence
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from annotated_types import Interval

from partdino.describe.identity import describing_code_sha256, describing_identity
from partdino.describe.photos import Photo
from partdino.errors import ConfigError, OutputError, StoreError
from partdino.files import files_below, recover_folder, write_json
from partdino.method import DEFAULT_METHOD, METHOD_OF_0_1, Method
from partdino.options import (
    FITTING_OPTIONS,
    NUMBERS,
    OPTION_NAMES,
    Options,
    SettledOptions,
    convert,
)
from partdino.output_marks import STORE_FILE
from partdino.runs.shard import WHOLE, Shard
from partdino.version import __version__

if TYPE_CHECKING:
    from partdino.describe.features import Backbone

SCHEMA = 2  # 1 had no numbers and no hash of the code
_FORMAT = "partdino feature store"
STORE_FILES = (STORE_FILE, "blocks", "journal", "failures.csv")
_OUR_BLOCK = re.compile(r"[0-9]{6,}\.(safetensors|json)|\.partdino-.*")
_OUR_JOURNAL = re.compile(r"[0-9a-f]{32}\.safetensors|\.partdino-.*")
_MOST_IN_BLOCK = 32  # bounds the memory of making a block
_BLOCKS = 64  # that a small collection has, to be cut into even shards


@dataclass(frozen=True)
class Header:
    """How a store was made.

    Attributes
    ----------
    version
        Of Part-DINO.
    options
        Every option but `FITTING_OPTIONS`, resolved.
    numbers
        Those of the method that decide descriptions, see `Method.describing`.
    code_sha256
        Of the code that made them, see `describing_code_sha256`; empty for stores of version 0.1.
    weights
        Name, source and sha256 of the backbone.
    notes
        What was chosen for "auto", in words.
    images
        Number of images in the collection, of all shards.
    names_sha256
        Hash of their names, one a line.
    block_size
        Images in a block; the last one may have fewer.
    shard
        Which blocks are here.
    """

    version: str
    options: dict[str, Any]
    numbers: dict[str, Any]
    code_sha256: str
    weights: dict[str, str]
    notes: list[str]
    images: Annotated[int, Interval(ge=1)]
    names_sha256: str
    block_size: Annotated[int, Interval(ge=1)]
    shard: Shard

    @classmethod
    def of(
        cls,
        names: Collection[str],
        options: SettledOptions,
        backbone: Backbone,
        notes: Sequence[str],
        shard: Shard,
    ) -> Header:
        """Describe the store of a collection; `options` are resolved, `names` those of all shards.

        The size of blocks depends on the collection alone, so that shards have the blocks of a
        single run.
        """
        values = options.values()
        listed = hashlib.sha256()
        for name in names:
            listed.update(f"{name}\n".encode())
        return cls(
            version=__version__,
            options={name: v for name, v in values.items() if name not in FITTING_OPTIONS},
            numbers=options.numbers.describing,
            code_sha256=describing_code_sha256(options),
            weights={
                "backbone": backbone.name,
                "source": backbone.weights.source,
                "sha256": backbone.weights.sha256,
            },
            notes=list(notes),
            images=len(names),
            names_sha256=listed.hexdigest(),
            block_size=min(max(len(names) // _BLOCKS, 1), _MOST_IN_BLOCK),
            shard=shard,
        )

    @property
    def identity(self) -> dict[str, Any]:
        """All that decides the descriptions except the images."""
        return describing_identity(
            self.options, self.numbers, self.weights["sha256"], self.code_sha256
        )

    @property
    def collection(self) -> dict[str, Any]:
        """All that shards of one run have in common."""
        names = ("images", "names_sha256", "block_size")
        return {**self.identity, **{name: getattr(self, name) for name in names}}

    @property
    def blocks(self) -> range:
        """The numbers of the blocks that are here."""
        everything = self.shard.share(range(-(-self.images // self.block_size)))
        return range(everything[0], everything[-1] + 1) if everything else range(0)

    def share(self, photos: Sequence[Photo]) -> Sequence[Photo]:
        """Return the photos of the collection that are here."""
        return photos[self.blocks.start * self.block_size : self.blocks.stop * self.block_size]

    def whole(self) -> Header:
        """Return the header of the store that holds all shards."""
        return replace(self, shard=WHOLE)

    def write(self, folder: Path) -> None:
        """Write the file, atomically; raises `OutputError`."""
        document = {**asdict(self), "shard": str(self.shard)}
        write_json(folder / STORE_FILE, {"format": _FORMAT, "schema": SCHEMA, **document})

    @classmethod
    def read(cls, folder: Path) -> Header:
        """Read the file; raises `StoreError`."""
        recover_folder(folder)
        try:
            document = json.loads((folder / STORE_FILE).read_bytes())
            if document.pop("format") != _FORMAT:
                raise ValueError
            schema, version = document.pop("schema"), document["version"]
        except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
            raise StoreError(
                f"{folder} is not a feature store; make one with partdino features"
            ) from error
        if schema == 1:
            numbers = Method(**METHOD_OF_0_1).describing
            document = {**document, "numbers": numbers, "code_sha256": ""}
        elif schema != SCHEMA:
            raise StoreError(
                f"{folder} was made by Part-DINO {version} (schema {schema}, here {SCHEMA}); "
                "make it anew with partdino features --overwrite"
            )
        try:
            return cls._checked(document)
        except (KeyError, TypeError, ConfigError) as error:
            raise StoreError(
                f"{folder / STORE_FILE} is not what Part-DINO {__version__} writes (it says that "
                f"{version} wrote it); make the store anew"
            ) from error

    @classmethod
    def _checked(cls, document: dict[str, Any]) -> Header:
        shard = Shard.parse(document["shard"])
        if "hints" not in document["options"]:  # stores of version 0.1 do not have them
            document = {**document, "options": {**document["options"], "hints": None}}
        header = convert(cls, {**document, "shard": shard}, STORE_FILE)
        convert(Options, {**header.options, NUMBERS: header.numbers}, STORE_FILE)
        for values, names in (
            (document, [field.name for field in fields(cls)]),
            (header.options, set(OPTION_NAMES) - set(FITTING_OPTIONS)),
            (header.numbers, DEFAULT_METHOD.describing),
            (header.weights, ("backbone", "source", "sha256")),
        ):
            if set(values) != set(names):
                raise KeyError
        return header


def refuse_foreign(folder: Path) -> None:
    """Raise `OutputError` where a store to replace has files of somebody else among its own."""
    for kind, ours in (("blocks", _OUR_BLOCK), ("journal", _OUR_JOURNAL)):
        for path in map(Path, files_below(folder / kind)):
            if not ours.fullmatch(path.name):
                raise OutputError(
                    f"{path} is none of the files of a store, which are replaced; move it, or "
                    "choose another --out"
                )


def is_store(folder: Path) -> bool:
    """Return whether a folder holds a feature store, finished or not."""
    return (folder / STORE_FILE).is_file()
