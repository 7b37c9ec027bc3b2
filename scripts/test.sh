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

# What the review page is tested with for people who see little or work by keyboard: one file, which
# no package of ours holds. Without npm those tests are skipped.
get_axe() {
    [ -e "$VENV/axe.min.js" ] && return
    local folder
    folder="$(mktemp -d)"
    if (cd "$folder" && npm pack --silent axe-core@4 && tar -xzf axe-core-*.tgz) >/dev/null 2>&1; then
        mv "$folder/package/axe.min.js" "$VENV/axe.min.js"
    else
        say "axe-core: not to be had now with npm; its tests of the review page are skipped"
    fi
    rm -rf "$folder"
}

get_axe
say "tests: pytest $*"
# A process a core, each with whole files: their tests share runs. A process takes 1 to 2 GB.
"$VENV_PYTHON" -m pytest -n auto --maxprocesses 8 --dist loadfile "$@"
