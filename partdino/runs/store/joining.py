"""Making one store of those of all shards."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from partdino.files import link, whole_folder
from partdino.runs.store.blocks import index_path
from partdino.runs.store.reading import FeatureStore, open_stores


def merge_stores(out: Path, folders: Sequence[Path]) -> FeatureStore:
    """Put the blocks of all shards into one folder: byte for byte the store of a single run.

    Parameters
    ----------
    out
        The folder, which is replaced.
    folders
        The shards, in any order. They keep their blocks; on the same disk these exist once.

    Returns
    -------
    FeatureStore
        What was merged.

    Raises
    ------
    StoreError
        See `open_stores`, or a block is damaged.
    OutputError
        The folder cannot be written.
    """
    store = open_stores(folders)
    with whole_folder(out) as new:
        for first in range(0, len(store.images), store.header.block_size):
            image = store.images[first]
            image.verify()
            for file in (image.block, index_path(image.block)):
                link(file, new / "blocks" / file.name)
        store.write_failures(new)
        store.header.write(new)
    return store
