"""Batches by shape, and what happens when one is too large for the device."""

from __future__ import annotations

import threading
from contextlib import suppress
from threading import Lock

import engine_tasks
import numpy as np
import pytest
import torch

from partdino.engine.batches import BatchStage, buffered, in_batches, in_windows
from partdino.engine.outcomes import Outcome, is_of_dead_device, is_out_of_memory, run_stage
from partdino.engine.pools import worker_pool
from partdino.errors import DeviceError

# Of older versions of torch, it is a plain RuntimeError.
AcceleratorError = getattr(torch, "AcceleratorError", RuntimeError)
ILLEGAL = "CUDA error: an illegal memory access was encountered"


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


def test_an_image_is_tried_again_once_the_other_thread_is_out():
    """Two threads at a device that holds one image: neither of them loses any."""
    here, both = Lock(), threading.Barrier(2)

    def crowded(images):
        if not here.acquire(blocking=False):
            both.wait(10)
            raise torch.OutOfMemoryError("CUDA out of memory.")
        try:
            with suppress(threading.BrokenBarrierError):
                both.wait(0.3)  # for the other thread to come, where it may
            return [2 * image for image in images]
        finally:
            here.release()

    stage = BatchStage("double", crowded, np.shape, 1)
    check(list(in_batches([stage], outcomes(6 * [(2,)]))), 6)


def test_the_memory_that_torch_keeps_is_given_back_before_the_second_try(monkeypatch):
    events = []
    monkeypatch.setattr(torch.cuda, "is_initialized", lambda: True)
    monkeypatch.setattr(torch.cuda, "empty_cache", lambda: events.append("emptied"))

    def fragmented(images):
        events.append("tried")
        if "emptied" not in events:
            raise RuntimeError("cuDNN error: CUDNN_STATUS_ALLOC_FAILED")
        return images

    (done,) = BatchStage("same", fragmented, np.shape)(outcomes([(2,)]))
    assert done.failure is None and events == ["tried", "emptied", "tried"]


@pytest.mark.parametrize(
    ("error", "memory", "dead"),
    [
        (torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2 GiB."), True, False),
        (AcceleratorError("CUDA error: out of memory"), True, False),
        (
            RuntimeError("CUDA error: CUBLAS_STATUS_ALLOC_FAILED when calling `cublasX`"),
            True,
            False,
        ),
        (RuntimeError("CUDA error: CUBLAS_STATUS_NOT_INITIALIZED when calling"), True, False),
        (RuntimeError("cuDNN error: CUDNN_STATUS_ALLOC_FAILED"), True, False),
        (AcceleratorError(f"{ILLEGAL}\nCUDA kernel errors might be"), False, True),
        (RuntimeError("CUDA error: uncorrectable ECC error encountered"), False, True),
        (RuntimeError("mat1 and mat2 shapes cannot be multiplied"), False, False),
        (ValueError("CUDA error: said by an image's name"), False, False),
    ],
)
def test_what_errors_of_devices_mean(error, memory, dead):
    assert (is_out_of_memory(error), is_of_dead_device(error)) == (memory, dead)


def test_a_dead_device_ends_all_and_blames_no_image():
    tried = []

    def dying(images):
        tried.append(len(images))
        if len(tried) > 2:
            raise AcceleratorError(f"{ILLEGAL}\nCUDA kernel errors might be reported later")
        return images

    done = in_batches([BatchStage("same", dying, np.shape, 4)], outcomes(100 * [(2,)]))
    with pytest.raises(DeviceError, match=r"illegal memory access.*nvidia-smi.*--resume") as caught:
        list(done)
    assert "\n" not in str(caught.value)
    assert len(tried) <= 6


@pytest.mark.parametrize("workers", [0, 2])
def test_a_dead_device_of_a_worker_ends_all(workers):
    with worker_pool(workers) as pool, pytest.raises(DeviceError, match="uncorrectable ECC"):
        list(run_stage("stage", engine_tasks.on_a_dead_device, outcomes(8 * [(2,)]), pool))


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
