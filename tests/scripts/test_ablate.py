"""Every row of the ablation is a choice that an evaluation takes."""

from __future__ import annotations

import pytest
from script_modules import load_script

from partdino.evaluation.eval_options import validate_evaluation

ablate = load_script("ablate")


@pytest.mark.parametrize("row", ablate.ROWS, ids=lambda row: f"{row.stage}: {row.change}")
def test_a_row_is_valid_and_changes_what_it_names(row):
    _, method = validate_evaluation({**row.options, "numbers": row.numbers})
    for name, value in row.numbers.items():
        assert getattr(method.numbers, name) == value


def test_no_row_is_there_twice():
    told = [(sorted(row.options.items()), sorted(row.numbers.items())) for row in ablate.ROWS]
    assert all(told.count(each) == 1 for each in told)
