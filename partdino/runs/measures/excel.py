"""`measurements.xlsx`: both tables as sheets.

Not a CSV with a byte order mark: where decimals have commas, Excel expects semicolons between the
cells, and a point in a number makes it a date or text. A workbook opens the same everywhere.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from partdino.errors import ConfigError, OutputError
from partdino.files import atomic_path, csv_safe
from partdino.output_marks import WORKBOOK_CREATOR

_MOST_ROWS = 1_048_576  # of a sheet, with the header
_MOST_COLUMNS = 16_384


def check_excel() -> None:
    """Raise `ConfigError` where workbooks cannot be written."""
    try:
        import openpyxl  # noqa: F401
    except ImportError as error:
        raise ConfigError("--excel needs openpyxl: pip install 'partdino[excel]'") from error


def write_excel(
    path: Path, sheets: Mapping[str, tuple[Sequence[str], Iterable[Sequence[Any]]]]
) -> None:
    """Write a workbook, row by row and atomically.

    Parameters
    ----------
    path
        The file.
    sheets
        Header and rows by the sheet's name.

    Raises
    ------
    OutputError
        It cannot be written, or a table is larger than a sheet.
    """
    from openpyxl import Workbook

    book = Workbook(write_only=True)
    book.properties.creator = WORKBOOK_CREATOR
    for name, (header, rows) in sheets.items():
        sheet = book.create_sheet(name)
        if len(header) > _MOST_COLUMNS:
            raise OutputError(_too_large(path, name, f"{_MOST_COLUMNS} columns"))
        sheet.append([_cell(value) for value in header])
        for number, row in enumerate(rows, start=2):
            if number > _MOST_ROWS:
                raise OutputError(_too_large(path, name, f"{_MOST_ROWS} rows"))
            sheet.append([_cell(value) for value in row])
    with atomic_path(path) as temporary:
        book.save(temporary)


def _cell(value: Any) -> Any:
    from openpyxl.cell.cell import ILLEGAL_CHARACTERS_RE

    if not isinstance(value, str):
        return value
    return csv_safe(ILLEGAL_CHARACTERS_RE.sub(lambda match: ascii(match[0])[1:-1], value))


def _too_large(path: Path, name: str, size: str) -> str:
    return f"cannot write {path}: {name} is more than the {size} of a sheet; leave out --excel"
