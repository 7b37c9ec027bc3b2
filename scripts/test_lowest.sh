#!/usr/bin/env bash
# Tests with the lowest versions that pyproject.toml allows, on the oldest Python that it allows:
#
#   bash scripts/test_lowest.sh                    all tests
#   bash scripts/test_lowest.sh tests/images -x    some of them
#
# Needs uv (pip install uv) and some GB of disk. The environment is made anew.
#
#   PARTDINO_LOWEST   where to make it                 (default: .venv-lowest in the repository)
#   PYTHON            the Python to make it with       (default: 3.10, as uv finds it)

set -euo pipefail
unset CDPATH

ROOT="$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)"
VENV="${PARTDINO_LOWEST:-$ROOT/.venv-lowest}"
cd "$ROOT"

uv venv --quiet --clear --python "${PYTHON:-3.10}" "$VENV"
uv pip install --quiet --python "$VENV/bin/python" --resolution lowest-direct --editable ".[test]"
"$VENV/bin/partdino" weights pull hed || true
"$VENV/bin/partdino" info
"$VENV/bin/python" -m pytest "$@"
