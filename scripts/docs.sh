#!/usr/bin/env bash
# Sets everything up and builds the site of docs/ into docs/site, with no network beyond the set-up:
#
#   bash scripts/docs.sh            build; a broken link or reference is an error
#   bash scripts/docs.sh serve      show it on http://127.0.0.1:8000 and follow changes
#
# Works from any folder and may be run again: see setup.sh for what it makes and where.

set -euo pipefail

EXTRAS="docs"
# shellcheck source=scripts/setup.sh
source "$(dirname "${BASH_SOURCE[0]}")/setup.sh"
cd "$ROOT"

# What the theme says of its own future versions has no place in a log of ours.
export NO_MKDOCS_2_WARNING=1
COMMAND="${1:-build}"
say "docs: mkdocs $COMMAND"
"$VENV_PYTHON" -m mkdocs "$COMMAND" --strict --config-file docs/mkdocs.yml "${@:2}"
if [ "$COMMAND" = build ]; then
    say "done. Open $ROOT/docs/site/index.html"
fi
