"""The scripts that run shards: one by one they end as a single run does."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest
from segment_runs import DESCRIBING, PARTS, SMALL, content, flags

SCRIPTS = Path(__file__).parents[2] / "scripts"
OPTIONS = flags(DESCRIBING)

pytestmark = pytest.mark.skipif(shutil.which("bash") is None, reason="needs bash")

# Runs a job, or every task of an array, at once; prints its name as its id.
SBATCH = """#!/usr/bin/env bash
set -e
tasks=1
while [[ "$1" == --* ]]; do
    case "$1" in --array=*) tasks="$(seq "${1#*=1-}")" ;; esac
    echo "sbatch $1" >>"$LOG"
    shift
done
cp "$1" "$LOG.copy"
for task in $tasks; do
    SLURM_ARRAY_TASK_ID="$task" bash "$LOG.copy" "${@:2}" >&2
done
echo "$STEP"
"""


def executable(path: Path, text: str) -> Path:
    path.write_text(text)
    path.chmod(0o755)
    return path


def run(script: str, *arguments: object, **environment: object) -> subprocess.CompletedProcess:
    variables = {name: str(value) for name, value in environment.items()}
    return subprocess.run(
        ["bash", SCRIPTS / script, *map(str, arguments)],
        env={**os.environ, **variables},
        capture_output=True,
        text=True,
        timeout=300,
    )


def test_two_processes_make_what_one_makes(partdino, photo_folder, tmp_path):
    main = "from partdino.cli.main import main; main()"
    command = executable(
        tmp_path / "partdino", f'#!/bin/sh\nexec "{sys.executable}" -c "{main}" "$@"\n'
    )
    out, whole = tmp_path / "out", tmp_path / "whole"
    arguments = (out, PARTS, photo_folder, "--", *OPTIONS)
    result = run("multi_gpu.sh", *arguments, DEVICES="cpu cpu", PARTDINO=command)
    assert result.returncode == 0, result.stderr
    assert partdino("segment", photo_folder, "--out", whole, *flags(SMALL)).code == 0
    assert content(out, "run.json") == content(whole, "run.json")


def test_slurm_jobs_run_each_shard_once_and_wait_for_each_other(tmp_path):
    log = tmp_path / "log"
    # A fit that leaves a model, and a label that says that some images failed.
    said = 'echo "$@" >>"$LOG"; [ "$1" != fit ] || echo m >"$7"; [ "$1" != label ]'
    command = executable(tmp_path / "partdino", f"#!/usr/bin/env bash\n{said}\n")
    executable(tmp_path / "sbatch", SBATCH)
    for number in (1, 2):
        store = tmp_path / "out.work" / f"features-{number}"
        store.mkdir(parents=True)
        for name in ("store.json", "failures.csv"):
            (store / name).touch()
    arguments = (tmp_path / "out", 5, "a b", "c", "--", "--stride", 8)
    path = f"{tmp_path}:{os.environ['PATH']}"
    result = run(
        "slurm_array.sbatch", *arguments, PATH=path, PARTDINO=command, COUNT=2, LOG=log, DEVICE="x"
    )
    assert result.returncode == 0, result.stderr
    assert "jobs features, fit, label and merge" in result.stdout
    lines = log.read_text().replace(str(tmp_path), "").splitlines()
    assert [line for line in lines if "dependency" in line] == [
        f"sbatch --dependency=afterok:{step}" for step in ("features", "fit", "label")
    ]
    steps = [line for line in lines if not line.startswith("sbatch")]
    stores, model = "/out.work/features-1 /out.work/features-2", "/out.work/parts.safetensors"
    labels = steps[3].split()[6].removesuffix("-1")
    described = "--device x --resume --lists /out.work/lists --stride 8"
    assert steps == [
        f"features a b c --out /out.work/features-1 --shard 1/2 {described}",
        f"features a b c --out /out.work/features-2 --shard 2/2 {described}",
        f"fit {stores} --parts 5 --out {model} --overwrite",
        f"label {stores} --model {model} --out {labels}-1 --shard 1/2 --resume",
        f"label {stores} --model {model} --out {labels}-2 --shard 2/2 --resume",
        f"merge /out {labels}-* --overwrite",
    ]


def test_a_label_shard_that_was_killed_at_its_very_end_goes_on(tmp_path):
    work = tmp_path / "out.work"
    out = work / "labels-1"
    (out / ".partdino").mkdir(parents=True)
    (out / "run.json").touch()
    script = f"source {SCRIPTS}/shards.sh; labels() {{ echo {work}/labels; }}; label_shard 1"
    environment = {**os.environ, "PARTDINO": "echo", "WORK": str(work), "COUNT": "2"}

    def said() -> str:
        command = ["bash", "-euo", "pipefail", "-c", script]
        return subprocess.run(command, env=environment, capture_output=True, text=True).stdout

    assert said().startswith("label ") and "--resume" in said()
    (out / ".partdino").rmdir()
    assert said() == ""


def test_a_fit_that_is_stopped_is_told(tmp_path):
    said = 'trap "echo stopped >>$LOG; exit 143" TERM; echo "$1" >>"$LOG"; [ "$1" != fit ] || '
    said += "for i in $(seq 600); do sleep 0.1; done"
    command = executable(tmp_path / "partdino", f"#!/usr/bin/env bash\n{said}\n")
    log = tmp_path / "log"
    environment = {**os.environ, "PARTDINO": str(command), "DEVICES": "cpu", "LOG": str(log)}
    script = [SCRIPTS / "multi_gpu.sh", tmp_path / "out", "4", "photos"]
    with subprocess.Popen(["bash", *script], env=environment) as process:
        while not log.exists() or "fit" not in log.read_text():
            time.sleep(0.05)
        process.terminate()
        assert process.wait(20) == 143
    assert log.read_text().split() == ["features", "fit", "stopped"]


def test_a_machine_without_a_gpu_is_told(tmp_path):
    executable(tmp_path / "nvidia-smi", "#!/bin/sh\n")
    path = f"{tmp_path}:{os.environ['PATH']}"
    result = run("multi_gpu.sh", tmp_path / "out", 4, "photos", PATH=path, PARTDINO="false")
    assert result.returncode == 2 and "no GPU was found" in result.stderr


@pytest.mark.parametrize("script", ["multi_gpu.sh", "slurm_array.sbatch"])
def test_missing_arguments_are_told(script):
    result = run(script, "out", 4, DEVICES="cpu")
    assert result.returncode == 2 and "usage:" in result.stderr
