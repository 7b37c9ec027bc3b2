"""Many images through a chain of stages: in order, in parallel, past failures."""

from __future__ import annotations

import math
import os
import signal

import numpy as np
import pytest

from partdino.errors import InputError, PartDinoError
from partdino.flow import Outcome, attempt, through, worker_pool
from partdino.images import ImageError


def outcomes(values):
    return [Outcome(f"{index}", value) for index, value in enumerate(values)]


@pytest.mark.parametrize("workers", [0, 2])
def test_outcomes_keep_their_order_and_failures_travel_on(workers):
    values = [16.0, -1.0, 81.0, "text", 1.0]
    with worker_pool(workers) as pool:
        roots = through("root", math.sqrt, outcomes(values), pool, ahead=2)
        result = list(through("root", math.sqrt, roots, pool, ahead=2))
    assert [o.name for o in result] == list("01234")
    assert [o.value for o in result] == [2.0, None, 3.0, None, 1.0]
    assert result[1].failure == "unexpected ValueError: math domain error; please report it"
    assert result[3].failure.startswith("unexpected TypeError")
    assert all(set(o.seconds) == {"root"} for o in result)


def test_a_stage_sees_no_more_images_than_it_needs():
    drawn = []

    def source():
        for outcome in outcomes(range(100)):
            drawn.append(outcome.name)
            yield outcome

    assert next(through("stage", abs, source())).value == 0
    assert len(drawn) == 1
    with worker_pool(1) as pool:
        assert next(through("stage", abs, source(), pool, ahead=4)).value == 0
    assert len(drawn) == 1 + 4


@pytest.mark.parametrize(
    ("error", "failure"),
    [
        (InputError("a.jpg: no such file"), "a.jpg: no such file"),
        (ImageError("a.jpg", "is empty"), "is empty"),
        (MemoryError(), "not enough memory; scale it down first"),
        (np.linalg.LinAlgError("no\nluck"), "unexpected LinAlgError: no\nluck; please report it"),
    ],
)
def test_an_exception_becomes_the_reason(error, failure):
    def stage(value):
        raise error

    outcome = attempt("stage", stage, Outcome("a.jpg", 1, seconds={"stage": 1.0}))
    assert (outcome.value, outcome.failure) == (None, failure)
    assert outcome.seconds["stage"] > 1.0


@pytest.mark.parametrize("error", [KeyboardInterrupt, SystemExit])
def test_only_the_user_ends_a_run(error):
    def stage(value):
        raise error

    with pytest.raises(error):
        attempt("stage", stage, Outcome("a.jpg", 1))


def test_the_death_of_a_worker_is_an_error_in_one_line():
    with pytest.raises(PartDinoError) as caught, worker_pool(1) as pool:
        list(through("stage", os._exit, outcomes([7, 7, 7]), pool))
    assert "a worker process died" in str(caught.value) and "--workers" in str(caught.value)
    assert "\n" not in str(caught.value)


def test_workers_leave_ctrl_c_to_the_main_process():
    with worker_pool(1) as pool:
        handlers = through("stage", signal.getsignal, outcomes([signal.SIGINT]), pool)
        assert next(handlers).value == signal.SIG_IGN
