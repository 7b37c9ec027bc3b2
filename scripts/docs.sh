#!/usr/bin/env bash
# Sets everything up and builds the documentation, strictly and offline, into docs/site:
#
#   bash scripts/docs.sh
#
# Open docs/site/index.html. The pictures are rendered by scripts/make_gallery.py and kept.

set -euo pipefail

# shellcheck source=scripts/setup.sh
source "$(dirname "${BASH_SOURCE[0]}")/setup.sh"
cd "$ROOT"

say "documentation: mkdocs build --strict"
# What the theme says of its own future versions has no place in a log of ours.
NO_MKDOCS_2_WARNING=1 "$VENV_PYTHON" -m mkdocs build --quiet --strict --config-file docs/mkdocs.yml
say "done: $ROOT/docs/site/index.html"
