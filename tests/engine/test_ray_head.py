"""`--engine ray` where the head of the cluster is killed in the midst of a run."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import time

import pytest
from segment_runs import DESCRIBING, content, flags

from partdino.evaluation.synth import write_layout

ray = pytest.importorskip("ray", reason="pip install 'partdino[ray]'")
pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="needs more than one loopback IP")

ADDRESS = "127.0.0.3"
NODE = {"node_ip_address": ADDRESS, "include_dashboard": False, "object_store_memory": 80 << 20}
RUN = {**DESCRIBING, "image_size": 96, "region_size": 64}
# Workers go on without the head: the run must not be done before that is missed.
DRIVER = f"""
import os, ray, time
from partdino.engine import ray_watch
from partdino.cli.main import main
from partdino.runs.store import StoreWriter
ray_watch._LOOK_SECONDS, ray_watch._LOST_SECONDS = 0.5, 5
add = StoreWriter.add
StoreWriter.add = lambda *arguments: (time.sleep(0.5), add(*arguments))
ray.init(os.environ["HEAD"], _node_ip_address="{ADDRESS}", log_to_driver=False)
main()
"""


@pytest.fixture
def cluster():
    """A head that computes nothing and a machine of one core."""
    from ray.cluster_utils import Cluster

    folder = tempfile.mkdtemp(prefix="ray")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RAY_TMPDIR", folder)
        patch.setenv("RAY_worker_niceness", "0")
        cluster = Cluster(initialize_head=True, head_node_args={**NODE, "num_cpus": 0})
        try:
            cluster.add_node(num_cpus=1, **NODE)
            yield cluster
        finally:
            cluster.shutdown()
            shutil.rmtree(folder, ignore_errors=True)


def test_a_lost_head_ends_the_run_in_one_line_and_loses_nothing(cluster, partdino, tmp_path):
    write_layout("photos", tmp_path / "synth", images=48, seed=2, size=96)
    photos, out, whole = tmp_path / "synth" / "images", tmp_path / "out", tmp_path / "whole"
    command = ("features", photos, "--out", out, *flags({**RUN, "engine": "ray", "workers": 1}))
    run = subprocess.Popen(
        [sys.executable, "-c", DRIVER, *map(str, command)],
        env={**os.environ, "HEAD": cluster.address},
        stderr=subprocess.PIPE,
        text=True,
    )
    while run.poll() is None and not list(out.rglob("blocks/*.json")):
        time.sleep(0.1)
    assert run.poll() is None, run.stderr and run.stderr.read()
    cluster.head_node.kill_all_processes(check_alive=False, allow_graceful=False)
    said = run.communicate(timeout=120)[1].splitlines()
    assert run.returncode == 2, said
    assert f"the head of the Ray cluster at {cluster.address} has not answered" in said[-1]
    assert "--resume" in said[-1]

    resumed = partdino("features", photos, "--out", out, *flags(RUN), "--resume")
    assert resumed.code == 0, resumed.stderr
    assert "Resuming: " in resumed.stderr
    assert partdino("features", photos, "--out", whole, *flags(RUN)).code == 0
    assert content(out) == content(whole)
