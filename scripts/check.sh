#!/usr/bin/env bash
# Sets everything up and checks the code without running it: style, types, imports, the package.
#
#   bash scripts/check.sh
#
# Works from any folder and may be run again: see setup.sh for what it makes and where.

set -euo pipefail

EXTRAS="dev"
# shellcheck source=scripts/setup.sh
source "$(dirname "${BASH_SOURCE[0]}")/setup.sh"
cd "$ROOT"

say "ruff"
"$VENV_PYTHON" -m ruff check partdino tests scripts
"$VENV_PYTHON" -m ruff format --check --quiet partdino tests scripts ||
    fail "not formatted: run ruff format partdino tests scripts"
say "mypy"
"$VENV_PYTHON" -m mypy
say "imports go down only"
"$VENV/bin/lint-imports" --no-cache >/dev/null || "$VENV/bin/lint-imports" --no-cache
bash scripts/check_package.sh
