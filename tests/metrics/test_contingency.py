"""NMI and ARI against scikit-learn, against exact arithmetic, and under every symmetry."""

from __future__ import annotations

from decimal import Decimal, localcontext
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import adjusted_rand_score, normalized_mutual_info_score

from partdino.metrics import (
    add_padded,
    ari_from_contingency,
    contingency_table,
    nmi_from_contingency,
)

few = settings(max_examples=60, deadline=None)


@st.composite
def labellings(draw):
    size = draw(st.integers(0, 60))
    labels = st.lists(st.integers(0, draw(st.integers(0, 6))), min_size=size, max_size=size)
    return np.array(draw(labels), np.int64), np.array(draw(labels), np.int64)


@few
@given(labellings())
def test_scores_equal_scikit_learn(pair):
    table = contingency_table(*pair)
    assert nmi_from_contingency(table) == pytest.approx(
        normalized_mutual_info_score(*pair), abs=1e-10
    )
    assert ari_from_contingency(table) == pytest.approx(adjusted_rand_score(*pair), abs=1e-12)


@pytest.mark.parametrize(
    ("true", "predicted", "expected"),
    [([], [], 1.0), ([3], [5], 1.0), ([1, 1], [2, 2], 1.0), ([0, 1], [2, 2], 0.0)],
)
def test_degenerate_labellings(true, predicted, expected):
    table = contingency_table(np.array(true, int), np.array(predicted, int))
    assert nmi_from_contingency(table) == expected
    assert ari_from_contingency(table) == expected


@few
@given(labellings(), st.randoms(use_true_random=False))
def test_label_numbers_do_not_matter(pair, random):
    table = contingency_table(*pair)
    permuted = table[:, random.sample(range(table.shape[1]), table.shape[1])]
    assert nmi_from_contingency(permuted) == nmi_from_contingency(table)
    assert ari_from_contingency(permuted) == ari_from_contingency(table)


@few
@given(labellings(), st.integers(0, 60))
def test_shards_add_up(pair, cut):
    true, predicted = pair
    shards = [contingency_table(true[part], predicted[part]) for part in (np.s_[:cut], np.s_[cut:])]
    np.testing.assert_array_equal(add_padded(*shards), contingency_table(true, predicted))


def _exact_ari(table: np.ndarray) -> Fraction:
    cells, rows, columns = (_pairs(counts) for counts in (table, table.sum(1), table.sum(0)))
    expected = rows * columns / _pairs(table.sum())
    return (cells - expected) / ((rows + columns) / 2 - expected)


def _pairs(counts: np.ndarray) -> Fraction:
    return sum(Fraction(count * (count - 1), 2) for count in counts.ravel().tolist())


def _exact_nmi(table: np.ndarray) -> Decimal:
    with localcontext() as context:
        context.prec = 50
        rows, columns, both = (_entropy(c) for c in (table.sum(1), table.sum(0), table))
        return 2 * (rows + columns - both) / (rows + columns)


def _entropy(counts: np.ndarray) -> Decimal:
    total = Decimal(int(counts.sum()))
    shares = [Decimal(count) / total for count in counts.ravel().tolist() if count]
    return -sum(share * share.ln() for share in shares)


@pytest.mark.parametrize("dependence", [0.0, 1e-4, 0.9])
def test_exact_at_a_billion_samples(dependence):
    rng = np.random.default_rng(0)
    table = rng.integers(0, 1_200_000, (41, 51)) * 1.0 * (1 - dependence)
    table[np.arange(41), np.arange(41)] += dependence * 3e7
    table = np.round(table).astype(np.int64)
    assert table.sum() > 1_000_000_000
    assert ari_from_contingency(table) == float(_exact_ari(table))
    assert nmi_from_contingency(table) == pytest.approx(float(_exact_nmi(table)), abs=1e-13)


def test_perfect_agreement_of_a_billion_samples_is_exactly_one():
    table = np.diag([700_000_001, 300_000_007, 3])
    assert nmi_from_contingency(table) == 1.0
    assert ari_from_contingency(table) == 1.0


@pytest.mark.parametrize(
    ("true", "predicted", "shape"),
    [([0, 1], [0], None), ([-1], [0], None), ([2], [0], (2, 1)), ([0], [-1], (2, 2))],
)
def test_bad_labels_are_refused(true, predicted, shape):
    with pytest.raises(ValueError):
        contingency_table(np.array(true), np.array(predicted), shape)
