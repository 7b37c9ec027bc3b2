#!/usr/bin/env bash
# Sets everything up and runs the tests; what follows is passed to pytest:
#
#   bash scripts/test.sh                    all tests
#   bash scripts/test.sh tests/images -x    some of them
#
# Works from any folder and may be run again: see setup.sh for what it makes and where.
# Tests that need a GPU, the model hub or the benchmark photos skip themselves and say why.

set -euo pipefail

# shellcheck source=scripts/setup.sh
source "$(dirname "${BASH_SOURCE[0]}")/setup.sh"
cd "$ROOT"

say "tests: pytest $*"
"$VENV_PYTHON" -m pytest "$@"
