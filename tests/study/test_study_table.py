"""Effects in the table and the figure."""

from __future__ import annotations

import pytest

from partdino.evaluation.study.table import effect_text


@pytest.mark.parametrize(
    ("effect", "text"),
    [
        ((0.214, 0.18, 0.236), "+.21 [+.18, +.24]"),
        ((-0.004, -0.05, 1.0), "+.00 [-.05, +1.00]"),
        ((None, None, None), "- [-, -]"),
    ],
)
def test_effects_are_short(effect, text):
    assert effect_text(dict(zip(("value", "low", "high"), effect, strict=True))) == text
