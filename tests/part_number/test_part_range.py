"""What can be asked of the number of parts."""

from __future__ import annotations

import pytest

from partdino.errors import ConfigError
from partdino.part_range import candidates, parse_parts


@pytest.mark.parametrize(
    ("text", "value"),
    [("8", 8), (8, 8), (" 7 ", 7), ("auto", "auto"), ("4-16", "4-16"), ("04 - 6", "4-6")],
)
def test_what_can_be_asked(text, value):
    assert parse_parts(text, "options") == value


@pytest.mark.parametrize("value", [8.0, True, None, [4, 8]])
def test_what_is_neither_text_nor_number_is_left_to_others(value):
    assert parse_parts(value, "options") is value


@pytest.mark.parametrize(
    "text",
    [0, 256, "0", "-1", "256", "", "best", "4-", "-4-8", "1-4", "8-8", "9-4", "2-256", "4,8", "²"],
)
def test_anything_else_is_refused(text):
    with pytest.raises(ConfigError, match=r"^my.yaml: parts is .* auto, or a range .*4-16$"):
        parse_parts(text, "my.yaml")


def test_a_range_holds_both_ends():
    assert list(candidates("4-6")) == [4, 5, 6]
    assert candidates("auto") == range(4, 13)
