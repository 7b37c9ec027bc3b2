"""`--engine ray` on several machines: one is lost, another one comes, and no byte changes."""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from itertools import count, takewhile
from pathlib import Path

import engine_tasks
import pytest
from segment_runs import SMALL, content, flags

from partdino.engine.outcomes import Outcome, run_stage
from partdino.engine.pools import worker_pool
from partdino.evaluation.synth import write_layout

ray = pytest.importorskip("ray", reason="pip install 'partdino[ray]'")
pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="needs more than one loopback IP")

ADDRESS = "127.0.0.2"  # Ray takes 127.0.0.1 for the machine's own, which others can reach
NODE = {"node_ip_address": ADDRESS, "include_dashboard": False, "object_store_memory": 80 << 20}
IMAGES = 60


@pytest.fixture(scope="module")
def cluster():
    """A head that computes nothing and three machines of one core, all of them on this one."""
    from ray.cluster_utils import Cluster

    # The path of a socket may have 107 characters; and no other run shall take this for its own.
    folder = tempfile.mkdtemp(prefix="ray")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RAY_TMPDIR", folder)
        patch.setenv("PYTHONPATH", str(Path(__file__).parent), prepend=os.pathsep)
        patch.setenv("RAY_worker_niceness", "0")
        cluster = Cluster(initialize_head=True, head_node_args={**NODE, "num_cpus": 0})
        try:
            for _ in range(3):
                cluster.add_node(num_cpus=1, **NODE)
            ray.init(address=cluster.address, _node_ip_address=ADDRESS, log_to_driver=False)
            yield cluster
        finally:
            ray.shutdown()
            cluster.shutdown()
            shutil.rmtree(folder, ignore_errors=True)


def lose_one(cluster) -> None:
    cluster.remove_node(min(cluster.worker_nodes, key=id), allow_graceful=False)


def test_a_machine_is_lost_and_another_one_comes(cluster):
    before = {node["NodeID"] for node in ray.nodes()}
    machines: set[str] = set()
    # Until the machine that comes has done some, however long it takes to start.
    given = takewhile(lambda _: machines <= before, count())
    outcomes = (Outcome(f"{index}", index) for index in given)
    with worker_pool("auto", "ray") as pool:
        assert pool.workers == 3
        for index, outcome in enumerate(run_stage("s", engine_tasks.place_of, outcomes, pool)):
            assert (outcome.name, outcome.failure) == (f"{index}", None)
            assert outcome.value[0] == index
            machines.add(outcome.value[1])
            if index == 10:
                lose_one(cluster)
            if index == 20:
                cluster.add_node(num_cpus=1, **NODE)
    assert len(machines & before) == 3


def test_a_machine_that_is_lost_changes_no_byte(cluster, partdino, tmp_path, monkeypatch):
    write_layout("photos", tmp_path / "synth", images=IMAGES, seed=1, size=96)
    photos = tmp_path / "synth" / "images"
    local, distributed = tmp_path / "local", tmp_path / "ray"
    small = {**SMALL, "image_size": 96, "region_size": 64}
    assert partdino("segment", photos, "--out", local, *flags(small)).code == 0

    from partdino.runs.steps.describe import describe_images

    def losing(*arguments):
        for index, outcome in enumerate(describe_images(*arguments)):
            if index == 10:
                lose_one(cluster)
            yield outcome

    monkeypatch.setattr("partdino.runs.steps.describe.describe_images", losing)
    small |= {"engine": "ray", "workers": "auto"}
    done = partdino("segment", photos, "--out", distributed, *flags(small))
    assert (done.code, len(cluster.worker_nodes)) == (0, 2), done.stderr
    different = ("run.json", "config.yaml", ".partdino/store/store.json")
    assert content(distributed, *different) == content(local, *different)
