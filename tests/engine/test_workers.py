"""Worker processes: what they inherit, and what happens when they die."""

from __future__ import annotations

import multiprocessing
import os
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import engine_tasks
import pytest

from partdino.engine.outcomes import Outcome, run_stage
from partdino.engine.pool import WorkerDied
from partdino.engine.pools import worker_pool
from partdino.engine.workers import WorkerPool


def outcomes(values):
    return [Outcome(f"{index}", value) for index, value in enumerate(values)]


def run(code: str, **options: object) -> subprocess.CompletedProcess:
    """Run lines of Python, which may import the tasks, in a process of their own."""
    path = os.pathsep.join((str(Path(__file__).parent), os.environ.get("PYTHONPATH", "")))
    command = [sys.executable, "-c", textwrap.dedent(code)]
    environment = {**os.environ, "PYTHONPATH": path}
    return subprocess.run(command, env=environment, timeout=120, **options)


@pytest.fixture
def pool():
    with worker_pool(2) as pool:
        yield pool


def test_a_dying_worker_takes_its_own_image_alone(pool):
    values = [1, "poison", 3, 4, "poison", 6, 7, 8]
    result = list(run_stage("stage", engine_tasks.die_of, outcomes(values), pool))
    assert [o.value for o in result] == [1, None, 3, 4, None, 6, 7, 8]
    assert [o.name for o in result] == list("01234567")
    for failed in (result[1], result[4]):
        assert "ended its worker process twice" in failed.failure
        assert "--workers" in failed.failure and "\n" not in failed.failure


def test_an_image_whose_worker_died_of_something_else_is_tried_again(pool, tmp_path):
    flags = [tmp_path / name for name in "abcde"]
    result = list(run_stage("stage", engine_tasks.die_once, outcomes(flags), pool))
    assert [o.value for o in result] == list("abcde")


def test_a_worker_killed_while_idle_is_replaced(pool):
    first = pool.submit(engine_tasks.process_of, 0).result()
    for child in multiprocessing.active_children():
        os.kill(child.pid, signal.SIGKILL)
        child.join()
    again = {pool.submit(engine_tasks.process_of, 0).result() for _ in range(4)}
    assert first not in again and os.getpid() not in again


@pytest.mark.parametrize(("cores", "workers"), [(1, 1), (3, 3)])
def test_auto_is_a_worker_for_each_core(monkeypatch, cores, workers):
    monkeypatch.setenv("LOKY_MAX_CPU_COUNT", f"{cores}")
    monkeypatch.setattr("os.cpu_count", lambda: 64)
    monkeypatch.setattr("os.sched_getaffinity", lambda process: range(64), raising=False)
    with worker_pool("auto") as pool:
        assert pool.workers == workers


def test_what_a_task_raises_is_raised_here(pool):
    with pytest.raises(ValueError, match="not this"):
        pool.submit(engine_tasks.refuse, "this").result()
    with pytest.raises(ValueError, match="not loadable"):
        pool.submit(abs, engine_tasks.Unloadable()).result()
    with pytest.raises(WorkerDied):
        pool.submit(engine_tasks.die_of, "poison").result()
    assert pool.submit(abs, -1).result() == 1


def test_workers_leave_ctrl_c_to_the_main_process(pool):
    assert pool.submit(engine_tasks.sigint_handler, 0).result() == signal.SIG_IGN


def test_no_process_outlives_the_pool():
    pool = WorkerPool(2)
    busy = [pool.submit(engine_tasks.sleep, 600) for _ in range(3)]
    while len(multiprocessing.active_children()) < 2:
        time.sleep(0.01)
    pool.shutdown()
    assert not multiprocessing.active_children()
    assert all(future.cancelled() or future.exception() for future in busy)


def test_a_script_needs_no_main_guard(tmp_path):
    script = tmp_path / "script.py"
    script.write_text(
        textwrap.dedent("""
        from partdino.engine.outcomes import Outcome, run_stage
        from partdino.engine.pools import worker_pool
        with worker_pool(1) as pool:
            for outcome in run_stage("stage", abs, [Outcome("a", -n) for n in range(5)], pool):
                print(outcome.value)
        """)
    )
    done = subprocess.run([sys.executable, script], capture_output=True, text=True, timeout=120)
    assert (done.stdout.split(), done.stderr) == (list("01234"), "")


def test_a_worker_that_has_imported_nothing_yet_computes_with_one_thread():
    # As one that is started by spawn, or on a Ray cluster.
    code = """
        from partdino.engine.threads import compute_with_one_thread
        compute_with_one_thread(["partdino.describe.stages", "partdino.describe.features"])
        import torch, partdino.parts.labelling
        from threadpoolctl import threadpool_info
        print([each["filepath"] for each in threadpool_info() if each["num_threads"] > 1])
        print(torch.get_num_threads())
        """
    assert run(code, stdout=subprocess.PIPE).stdout.split() == [b"[]", b"1"]


def test_workers_end_with_the_main_process():
    code = """
        import os, signal, engine_tasks
        from partdino.engine.workers import WorkerPool
        pool = WorkerPool(2)
        print(pool.submit(engine_tasks.process_of, 0).result(), flush=True)
        busy = [pool.submit(engine_tasks.sleep, 600) for _ in range(2)]
        os.kill(os.getpid(), signal.SIGKILL)
        """
    # The pipe closes when the last process that holds it has ended.
    done = run(code, stdout=subprocess.PIPE)
    assert done.returncode == -signal.SIGKILL and done.stdout.strip()


def test_workers_ask_for_huge_pages(pool):
    assert pool.submit(os.getenv, "THP_MEM_ALLOC_ENABLE").result() == "1"
