"""`--engine ray`: the same results from workers of a Ray cluster, past the death of one."""

from __future__ import annotations

import os
import socket
from pathlib import Path
from queue import Empty, SimpleQueue

import engine_tasks
import pytest
from segment_runs import DESCRIBING, SMALL, content, flags, label_bytes

from partdino.describe.source import Source
from partdino.engine import ray_watch
from partdino.engine.outcomes import Outcome, run_stage
from partdino.engine.pool import WorkerDied
from partdino.engine.pools import worker_pool

ray = pytest.importorskip("ray", reason="pip install 'partdino[ray]'")

RUN = flags({**SMALL, "workers": 2})


def start_ray(tries: int = 5) -> None:
    """Start Ray, which gives up after half a minute where other tests keep the cores busy."""
    try:
        ray.init(address="local", num_cpus=4, include_dashboard=False, log_to_driver=False)
    except Exception:
        ray.shutdown()
        if tries == 1:
            raise
        start_ray(tries - 1)


@pytest.fixture(scope="module", autouse=True)
def cluster():
    """Ray on this machine, with room for two pools of two workers, who know `engine_tasks`."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", str(Path(__file__).parent), prepend=os.pathsep)
        patch.setenv("RAY_worker_niceness", "0")  # they shall not wait for other tests
        start_ray()
        yield
        ray.shutdown()


@pytest.fixture(scope="module")
def pool(cluster):  # which outlives it
    with worker_pool(2, "ray") as pool:
        yield pool


def outcomes(values):
    return [Outcome(f"{index}", value) for index, value in enumerate(values)]


def test_tasks_run_in_two_other_processes_and_come_in_order(pool):
    result = list(run_stage("stage", engine_tasks.process_of, outcomes(range(20)), pool))
    assert [o.name for o in result] == [f"{n}" for n in range(20)]
    assert pool.workers == 2 and os.getpid() not in {o.value for o in result}


def test_what_a_task_raises_is_raised_here(pool):
    with pytest.raises(ValueError, match="not this"):
        pool.submit(engine_tasks.refuse, "this").result()
    with pytest.raises(ValueError, match="not loadable"):
        pool.submit(abs, engine_tasks.Unloadable()).result()
    assert pool.submit(abs, -1).result() == 1


def test_a_dying_worker_takes_its_own_image_alone_and_is_replaced(pool):
    result = list(run_stage("stage", engine_tasks.die_of, outcomes([1, "poison", 3, 4, 5]), pool))
    assert [o.value for o in result] == [1, None, 3, 4, 5]
    assert "ended its worker process twice" in result[1].failure
    with pytest.raises(WorkerDied):
        pool.submit(engine_tasks.die_of, "poison").result()
    assert pool.submit(abs, -1).result() == 1


def test_a_task_that_finds_only_dead_workers_is_not_to_blame(pool):
    assert pool.submit(abs, -1).result() == 1
    for actor in list(pool._started):
        ray.kill(actor)
    assert pool.submit(abs, -2).result() == 2


def test_workers_are_asked_for_as_the_queue_needs_them(cluster):
    with worker_pool("auto", "ray") as pool:
        assert (pool.workers, len(pool._alive)) == (4, 0)
        assert pool.submit(abs, -1).result() == 1
        assert len(pool._alive) == 1


def test_a_worker_killed_on_the_way_changes_no_byte(partdino, photo_folder, tmp_path, monkeypatch):
    local, distributed = tmp_path / "local", tmp_path / "ray"
    assert partdino("segment", photo_folder, "--out", local, *flags(SMALL)).code == 0

    def deadly(name: str, path: Path) -> Source:
        return Source(name, engine_tasks.DeadlyPhoto(path, tmp_path / "killed"))

    monkeypatch.setattr("partdino.runs.steps.describe.Source", deadly)
    done = partdino("segment", photo_folder, "--out", distributed, *RUN, "--engine", "ray")
    assert (done.code, (tmp_path / "killed").exists()) == (0, True)
    assert label_bytes(distributed) == label_bytes(local)
    different = ("run.json", "config.yaml", ".partdino/store/store.json")
    assert content(distributed, *different) == content(local, *different)


def test_features_fit_and_labels_of_a_store(partdino, photo_folder, tmp_path):
    store, model = tmp_path / "store", tmp_path / "parts.safetensors"
    describing = flags({**DESCRIBING, "workers": 2})
    done = partdino("features", photo_folder, "--out", store, *describing, "--engine", "ray")
    assert done.code == 0, done.stderr
    fitting = ("fit", store, "--parts", 3, "--fit-on", "all", "--out")
    assert partdino(*fitting, model, "--workers", 0).code == 0
    assert partdino(*fitting, tmp_path / "too", "--workers", 2, "--engine", "ray").code == 0
    assert (tmp_path / "too").read_bytes() == model.read_bytes()
    for engine in ("local", "ray"):
        out = tmp_path / engine
        done = partdino("label", store, "--model", model, "--out", out, "--engine", engine)
        assert done.code == 0, done.stderr
    assert content(tmp_path / "ray", "run.json") == content(tmp_path / "local", "run.json")


def test_a_cluster_that_refuses_is_told_in_its_words(partdino, photo_folder, tmp_path, monkeypatch):
    def refuse(**_):
        raise ConnectionError("invalid token")

    monkeypatch.setattr(ray, "is_initialized", lambda: False)
    monkeypatch.setattr(ray, "init", refuse)
    chosen = flags({**SMALL, "workers": 2, "engine": "ray"})
    with socket.create_server(("127.0.0.1", 0)) as server:
        address = f"127.0.0.1:{server.getsockname()[1]}"
        monkeypatch.setenv("RAY_ADDRESS", address)
        done = partdino("segment", photo_folder, "--out", tmp_path / "out", *chosen)
    assert done.code == 2
    assert f"{address} cannot be reached (invalid token)" in done.stderr.splitlines()[-1]
    monkeypatch.setenv("RAY_ADDRESS", address)  # where nobody listens any more
    monkeypatch.setattr(ray, "init", lambda **_: pytest.fail("Ray tries for minutes"))
    done = partdino("segment", photo_folder, "--out", tmp_path / "other", *chosen)
    assert done.code == 2 and f"{address} cannot be reached" in done.stderr.splitlines()[-1]


@pytest.mark.parametrize(
    ("options", "cure"),
    [
        ({"workers": 0}, "--workers 1"),
        ({"device": "cuda:1"}, "--device cuda"),
        ({"device": "cuda"}, "--device cpu"),
    ],
)
def test_what_cannot_work_on_ray_is_one_line(partdino, photo_folder, tmp_path, options, cure):
    chosen = flags({**SMALL, "workers": 2, "engine": "ray", **options})
    done = partdino("segment", photo_folder, "--out", tmp_path / "out", *chosen)
    assert done.code == 2 and cure in done.stderr.splitlines()[-1]


def test_a_cluster_without_room_is_told_of_and_waited_for(cluster, monkeypatch):
    monkeypatch.setattr(ray_watch, "_LOOK_SECONDS", 0.05)
    monkeypatch.setattr(ray_watch, "_ROOM_SECONDS", 0.2)
    monkeypatch.setattr(ray_watch, "_AGAIN_SECONDS", 0.5)
    others = int(ray.available_resources()["CPU"])
    holder = ray.remote(num_cpus=others)(engine_tasks.Holder).remote()
    ray.get(holder.ready.remote())
    said: SimpleQueue[str] = SimpleQueue()
    with worker_pool(1, "ray", warn=said.put) as pool:
        future = pool.submit(abs, -1)
        for _ in range(2):  # and again
            sentence = said.get(timeout=60)
            assert "each takes 1 CPU, and free are 0 of 4 CPU" in sentence
        assert not future.done()
        ray.kill(holder)
        assert future.result(timeout=120) == 1
        while not said.empty():
            said.get()
        with pytest.raises(Empty):
            said.get(timeout=1)
