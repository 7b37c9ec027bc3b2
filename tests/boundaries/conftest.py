"""The real HED weights, where this machine has them."""

from __future__ import annotations

import pytest

from partdino.describe import weights


@pytest.fixture
def real_hed() -> None:
    if not weights.is_available("hed"):
        pytest.skip("no HED weights: run `partdino weights pull hed`")
