"""How processes that run networks get their memory from the system."""

from __future__ import annotations

import os


def ask_for_huge_pages() -> None:
    """Let torch ask for huge pages, here and in processes started here; before it computes.

    A network's maps are tens of megabytes that are taken and given back for every image: in pages
    of 4 kB, that took a tenth to a fifth of the processor time of HED. Results are the same. Other
    systems than Linux pay no heed, and what the environment says already stands.
    """
    os.environ.setdefault("THP_MEM_ALLOC_ENABLE", "1")
