"""Many images through a chain of stages: in order, in parallel, past failures."""

from __future__ import annotations

import math
import os

import numpy as np
import pytest

from partdino.engine.outcomes import Outcome, run_stage, run_stages, try_stage
from partdino.engine.pools import worker_pool
from partdino.errors import InputError
from partdino.images import ImageError


def outcomes(values):
    return [Outcome(f"{index}", value) for index, value in enumerate(values)]


@pytest.mark.parametrize("workers", [0, 2])
def test_outcomes_keep_their_order_and_failures_travel_on(workers):
    values = [16.0, -1.0, 81.0, "text", 1.0]
    with worker_pool(workers) as pool:
        roots = run_stage("root", math.sqrt, outcomes(values), pool)
        result = list(run_stage("root", math.sqrt, roots, pool))
    assert [o.name for o in result] == list("01234")
    assert [o.value for o in result] == [2.0, None, 3.0, None, 1.0]
    assert result[1].failure == "unexpected ValueError: math domain error; please report it"
    assert result[3].failure.startswith("unexpected TypeError")
    assert all(set(o.seconds) == set(o.cpu_seconds) == {"root"} for o in result)


@pytest.mark.parametrize("workers", [0, 1])
def test_an_image_goes_through_all_stages_in_one_process(workers):
    stages = {"root": math.sqrt, "floor": math.floor}
    with worker_pool(workers) as pool:
        result = list(run_stages(stages, outcomes([17.0, -1.0, 5.0, 26.0]), pool))
    assert [o.value for o in result] == [4, None, 2, 5]
    assert [set(o.seconds) for o in result] == [{"root", "floor"}, {"root"}, *2 * [set(stages)]]


def test_a_stage_sees_no_more_images_than_it_needs():
    drawn = []

    def source():
        for outcome in outcomes(range(100)):
            drawn.append(outcome.name)
            yield outcome

    assert next(run_stage("stage", abs, source())).value == 0
    assert len(drawn) == 1
    with worker_pool(1) as pool:
        assert next(run_stage("stage", abs, source(), pool)).value == 0
    assert len(drawn) == 1 + 4


def test_a_few_images_start_no_process():
    def here(value):
        return os.getpid()

    with worker_pool(2) as pool:
        result = list(run_stage("stage", here, outcomes(range(3)), pool))
    assert [o.value for o in result] == 3 * [os.getpid()]


@pytest.mark.parametrize(
    ("error", "failure"),
    [
        (InputError("a.jpg: no such file"), "a.jpg: no such file"),
        (ImageError("a.jpg", "is empty"), "is empty"),
        (MemoryError(), "not enough memory; scale it down first"),
        (RuntimeError("CUDA out of memory."), "not enough memory; scale it down first"),
        (np.linalg.LinAlgError("no\nluck"), "unexpected LinAlgError: no\nluck; please report it"),
    ],
)
def test_an_exception_becomes_the_reason(error, failure):
    def stage(value):
        raise error

    outcome = try_stage("stage", stage, Outcome("a.jpg", 1, seconds={"stage": 1.0}))
    assert (outcome.value, outcome.failure) == (None, failure)
    assert outcome.seconds["stage"] > 1.0


@pytest.mark.parametrize("error", [KeyboardInterrupt, SystemExit])
def test_only_the_user_ends_a_run(error):
    def stage(value):
        raise error

    with pytest.raises(error):
        try_stage("stage", stage, Outcome("a.jpg", 1))
