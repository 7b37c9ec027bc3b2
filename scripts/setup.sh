#!/usr/bin/env bash
# Makes a virtual environment with Part-DINO in it; the other scripts source this file.
# It does only what is missing, so running it again takes a second.
#
#   PYTHON         the Python to make it with, 3.10 or newer   (default: python3)
#   PARTDINO_VENV  where to make it                            (default: .venv in the repository)
#   EXTRAS         what to install beside the package: check.sh says dev, docs.sh docs (default: test)
#   WITHOUT        packages that are left out, as test_exports.sh does PyTorch            (default: none)

set -euo pipefail
unset CDPATH

ROOT="$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)"
PYTHON="${PYTHON:-python3}"
VENV="${PARTDINO_VENV:-$ROOT/.venv}"
VENV_PYTHON="$VENV/bin/python"
EXTRAS="${EXTRAS:-test}"
WITHOUT="${WITHOUT:-}"
STAMP="$VENV/partdino-installed-$EXTRAS"

say() { printf '== %s\n' "$*"; }
fail() {
    printf 'error: %s\n' "$*" >&2
    exit 1
}

check_version() {
    "$1" -c 'import sys; sys.exit(sys.version_info < (3, 10))' 2>/dev/null && return
    fail "$1 is $("$1" --version 2>&1 || true); Part-DINO needs Python 3.10 or newer:" \
        "install one and name it, as in PYTHON=python3.12 bash $0"
}

make_environment() {
    if "$VENV_PYTHON" -m pip --version >/dev/null 2>&1; then
        check_version "$VENV_PYTHON"
        say "environment: $VENV (there already)"
        return
    fi
    command -v "$PYTHON" >/dev/null || fail "there is no $PYTHON: install Python 3.10 or newer"
    check_version "$PYTHON"
    "$PYTHON" -c 'import ensurepip, venv' 2>/dev/null ||
        fail "$PYTHON cannot make virtual environments, its venv or ensurepip module is missing:" \
            "install it (on Debian and Ubuntu: apt install python3-venv)"
    say "environment: making $VENV"
    "$PYTHON" -m venv "$VENV" || fail "cannot make $VENV: set PARTDINO_VENV to a folder that you may write"
}

# What is installed depends on pyproject.toml, and on which checkout the environment points to.
wanted_stamp() {
    "$VENV_PYTHON" -c '
import hashlib, pathlib, sys
root = sys.argv[1]
print(hashlib.sha256(pathlib.Path(root, "pyproject.toml").read_bytes()).hexdigest(), root)
' "$ROOT"
}

# What pyproject.toml asks for, but for what is left out: a line each.
requirements() {
    "$VENV_PYTHON" -c '
import re, sys
from importlib.metadata import requires
extras, without = sys.argv[1].split(","), sys.argv[2].split()
for line in requires("partdino"):
    requirement, _, marker = line.partition(";")
    extra = re.search("extra == .([^\x22\x27]+)", marker)
    if (extra is None or extra[1] in extras) and re.match(r"[\w.-]+", line)[0] not in without:
        print(requirement)
' "$EXTRAS" "$WITHOUT"
}

pip_install() {
    "$VENV_PYTHON" -m pip install --quiet --disable-pip-version-check --no-input "$@"
}

install_packages() {
    if [ -z "$WITHOUT" ]; then
        pip_install --editable "${ROOT}[$EXTRAS]"
    else
        pip_install --no-deps --editable "$ROOT" && pip_install --no-warn-conflicts --requirement <(requirements)
    fi
}

install() {
    local wanted other
    wanted="$(wanted_stamp)"
    if [ "$wanted" = "$(cat "$STAMP" 2>/dev/null || true)" ]; then
        say "packages: installed already"
        return
    fi
    say "packages: installing Part-DINO and what it needs (minutes, some GB)"
    rm -f "$STAMP"
    install_packages ||
        fail "pip could not install the packages: see its message above," \
            "check the connection to the package index and run this again"
    # What was installed from another checkout, or before a change, is not there any more.
    for other in "$VENV"/partdino-installed-*; do
        [ "$wanted" = "$(cat "$other" 2>/dev/null || true)" ] || rm -f "$other"
    done
    printf '%s\n' "$wanted" >"$STAMP"
}

pull_weights() {
    say "weights: the learned boundary detector"
    "$VENV/bin/partdino" weights pull hed ||
        say "weights: not to be had now; going on with regions that need no weights (felzenszwalb)"
}

make_environment
install
if [ -z "$WITHOUT" ]; then
    pull_weights
fi
