"""The table that the study is about: one row for each foreground patch of each image."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, fields
from pathlib import Path

import numpy as np

from partdino.evaluation.study.straddling import GROUPS
from partdino.files import write_csv


@dataclass(frozen=True, eq=False)
class Patches:
    """Foreground patches.

    Attributes
    ----------
    image
        int (N,), number of the image.
    row, column
        int (N,), place in the image's feature grid.
    group
        int (N,), index of `GROUPS`.
    true_group
        int (N,), the same by the true boundaries; -1 where there are none.
    strength
        float32 (N,), the strongest boundary inside the object that passes through.
    part
        int (N,), the most likely part, 1..K.
    entropy, confidence
        float (N, T), of the soft assignment at each temperature.
    """

    image: np.ndarray
    row: np.ndarray
    column: np.ndarray
    group: np.ndarray
    true_group: np.ndarray
    strength: np.ndarray
    part: np.ndarray
    entropy: np.ndarray
    confidence: np.ndarray

    def __len__(self) -> int:
        return len(self.image)

    @classmethod
    def join(cls, tables: Iterable[Patches]) -> Patches:
        """Put tables, one at least, one below the other."""
        tables = list(tables)
        names = [field.name for field in fields(cls)]
        return cls(*(np.concatenate([getattr(table, n) for table in tables]) for n in names))

    def write(self, path: Path, names: Sequence[str], temperature: int) -> None:
        """Write the table as CSV.

        Parameters
        ----------
        path
            The file.
        names
            Name of every image.
        temperature
            Index of the temperature whose entropy and confidence are written.
        """
        header = ["image", "row", "column", "group", "true_group", "boundary_strength"]
        write_csv(path, [*header, "part", "entropy", "confidence"], self._rows(names, temperature))

    def _rows(self, names: Sequence[str], temperature: int) -> Iterator[list]:
        columns = (
            *(self.image, self.row, self.column, self.group, self.true_group, self.strength),
            *(self.part, self.entropy[:, temperature], self.confidence[:, temperature]),
        )
        labels = (*GROUPS, "")  # -1: no truth
        for image, row, column, group, true_group, strength, part, *measures in zip(
            *(column.tolist() for column in columns), strict=True
        ):
            numbers = [f"{value:.4f}" for value in (strength, *measures)]
            yield [
                *(names[image], row, column, labels[group], labels[true_group]),
                *(numbers[0], part, *numbers[1:]),
            ]
