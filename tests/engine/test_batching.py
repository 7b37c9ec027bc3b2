"""Batches by shape, and what happens when one is too large for the device."""

from __future__ import annotations

import threading

import engine_tasks
import numpy as np
import pytest
import torch

from partdino.engine.batches import BatchStage, buffered, in_batches, in_windows
from partdino.engine.outcomes import Outcome
from partdino.engine.pools import worker_pool


class Device:
    """Doubles images; holds only so many, and cannot bear a negative one."""

    def __init__(self, holds: int = 1000) -> None:
        self.holds = holds
        self.tried: list[int] = []

    def __call__(self, images: list[np.ndarray]) -> list[np.ndarray]:
        self.tried.append(len(images))
        if len(images) > self.holds:
            raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 20.00 GiB.")
        stack = np.stack(images)
        if (stack < 0).any():
            raise ValueError("negative")
        return list(2 * stack)

    def stage(self, size: int | str = "auto") -> BatchStage:
        return BatchStage("double", self, np.shape, size)


def outcomes(shapes):
    return [Outcome(f"{n}", np.full(shape, n + 1)) for n, shape in enumerate(shapes)]


def check(done, count: int) -> None:
    assert [o.name for o in done] == [f"{n}" for n in range(count)]
    assert [o.value.flat[0] for o in done] == [2 * (n + 1) for n in range(count)]


def test_images_of_a_shape_go_together_and_come_in_order():
    device = Device()
    done = device.stage(3)(outcomes([(2, 3), (4, 1), (2, 3), (2, 3), (4, 1), (2, 3)]))
    check(done, 6)
    assert device.tried == [3, 1, 2]
    assert [o.value.shape for o in done[:2]] == [(2, 3), (4, 1)]
    assert all(set(o.seconds) == set(o.cpu_seconds) == {"double"} for o in done)


def test_too_large_a_batch_is_halved_and_not_tried_again():
    device = Device(holds=5)
    stage = device.stage()
    check(stage(outcomes(40 * [(2,)])), 40)
    assert device.tried == [32, 16, 8, *10 * [4]]
    device.tried.clear()
    check(stage(outcomes(10 * [(2,)])), 10)
    assert device.tried == [4, 4, 2]


def test_an_image_too_large_for_the_device_fails_alone():
    device = Device(holds=0)
    done = device.stage(4)(outcomes(2 * [(2,)]))
    assert [o.failure for o in done] == 2 * ["not enough memory; scale it down first"]


def test_one_bad_image_fails_alone_and_costs_no_batch_size():
    device = Device()
    stage = device.stage(8)
    images = outcomes(8 * [(2,)])
    images[5].value[:] = -1
    done = stage([*images, Outcome("failed", failure="before")])
    assert [o.name for o in done if o.failure] == ["5", "failed"]
    assert done[5].failure == "unexpected ValueError: negative; please report it"
    assert done[8].failure == "before" and stage.size == 8
    assert [o.value[0] for o in done[:5]] == [2, 4, 6, 8, 10]


@pytest.mark.parametrize("count", [0, 1, 7, 50])
def test_windows_are_collected_while_others_are_at_the_device(count):
    first, second = Device(holds=3), Device()
    collecting = set()

    def source():
        for outcome in outcomes([(2 + n % 3,) for n in range(count)]):
            collecting.add(threading.current_thread())
            yield outcome

    done = list(in_batches([first.stage(4), second.stage(4)], source()))
    assert [o.value.flat[0] for o in done] == [4 * (n + 1) for n in range(count)]
    assert max(first.tried, default=0) <= 4
    assert threading.current_thread() not in collecting


def test_no_more_is_collected_than_a_few_windows():
    drawn = []
    stream = (drawn.append(o) or o for o in outcomes(1000 * [(2,)]))
    done = in_batches([Device().stage(4)], stream)
    next(done)
    done.close()
    assert len(drawn) <= 5 * 2 * 4


def test_a_buffer_hands_on_items_and_errors():
    assert list(buffered(range(5), 2)) == list(range(5))

    def broken():
        yield 1
        raise OSError("gone")

    items = buffered(broken(), 2)
    assert next(items) == 1
    with pytest.raises(OSError, match="gone"):
        next(items)


def test_workers_take_windows_and_what_they_die_of_fails_alone():
    values = [*range(9), "poison", *range(10, 21)]
    items = [Outcome(f"{n}", value) for n, value in enumerate(values)]
    with worker_pool(2) as pool:
        done = list(in_windows(engine_tasks.all_die_of, items, 2, pool))
    assert [o.name for o in done] == [f"{n}" for n in range(21)]
    assert [o.value for o in done] == [*range(9), None, *range(10, 21)]
    assert "ended its worker process twice" in done[9].failure
