"""What can be asked of the number of parts: a number, a range to choose from, or "auto"."""

from __future__ import annotations

import re

from partdino.errors import ConfigError

AUTO = "auto"
MOST_PARTS = 255  # what a label map of bytes holds

# What "auto" chooses from. Fewer parts than four cut most objects into no more than middle and rim.
_AUTO_RANGE = range(4, 13)


def parse_parts(value: object, source: str) -> object:
    """Check a number of parts.

    Parameters
    ----------
    value
        Of any kind; what is neither text nor number is left to others to check.
    source
        What an error calls the origin of the value.

    Returns
    -------
    object
        A number where the text stands for one, "auto", a range such as "4-16", or what was given.

    Raises
    ------
    ConfigError
        It is none of these, or not between 1 and 255; a range between 2 and 255, lower end first.

    Examples
    --------
    >>> parse_parts("8", "options"), parse_parts(" 4 - 16 ", "options")
    (8, '4-16')
    """
    if not isinstance(value, str | int) or isinstance(value, bool):
        return value
    text = re.sub(r"\s", "", str(value))
    if text == AUTO:
        return text
    if re.fullmatch(r"[+-]?\d+", text, re.ASCII) and 1 <= int(text) <= MOST_PARTS:
        return int(text)
    ends = re.fullmatch(r"(\d+)-(\d+)", text, re.ASCII)
    if ends is None or not 2 <= int(ends[1]) < int(ends[2]) <= MOST_PARTS:
        raise ConfigError(
            f"{source}: parts is {value!r}: pass a number from 1 to {MOST_PARTS}, auto, or a range "
            f"between 2 and {MOST_PARTS} such as 4-16"
        )
    return f"{int(ends[1])}-{int(ends[2])}"


def candidates(parts: str) -> range:
    """Return the numbers that "auto" or a range stands for.

    Examples
    --------
    >>> candidates("4-16")
    range(4, 17)
    """
    if parts == AUTO:
        return _AUTO_RANGE
    low, high = parts.split("-")
    return range(int(low), int(high) + 1)
