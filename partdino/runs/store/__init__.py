"""The feature store: what is known of every image of a collection, on disk.

A store is a folder; ``partdino features`` makes it, any tool can read it::

    store.json                  how it was made: see `partdino.runs.store.header.Header`
    blocks/000000.safetensors   arrays of the first images: ``<n>/<column>``, n from 0
    blocks/000000.json          sha256 and size in bytes of that file, and its images in order:
                                name, key (name, bytes and time of the photo), photo (its path),
                                failure (only where there is one, and then no arrays)
    failures.csv                all failures again, as a table
    journal/                    while the store is being made: images whose block is not full yet

The columns and their types are `partdino.runs.store.columns.COLUMNS`. Blocks follow each other in
the order of the images' names, and none is ever changed once it is there, so that stores of several
shards become one by putting their blocks into one folder.

>>> import numpy, safetensors.numpy
>>> block = safetensors.numpy.load_file("store/blocks/000000.safetensors")  # doctest: +SKIP
>>> block["0/features"].shape  # cells, dimensions                          # doctest: +SKIP
(311, 576)
"""

from partdino.runs.store.blocks import StoredImage
from partdino.runs.store.columns import COLUMNS, Column
from partdino.runs.store.descriptions import DescriptionStore
from partdino.runs.store.header import Header
from partdino.runs.store.joining import merge_stores
from partdino.runs.store.reading import FeatureStore, open_stores
from partdino.runs.store.writing import StoreWriter

__all__ = [
    "COLUMNS",
    "Column",
    "DescriptionStore",
    "FeatureStore",
    "Header",
    "StoreWriter",
    "StoredImage",
    "merge_stores",
    "open_stores",
]
