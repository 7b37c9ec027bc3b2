#!/usr/bin/env bash
# Sets everything up and runs the main job on the sample photos, twenty birds in the public domain:
#
#   bash scripts/demo.sh
#
# Works from any folder and may be run again: see setup.sh for what it makes and where.
# The results are written to demo_out in the repository, replacing those of an earlier run.

set -euo pipefail

# shellcheck source=scripts/setup.sh
source "$(dirname "${BASH_SOURCE[0]}")/setup.sh"
cd "$ROOT"

say "partdino segment data/samples/birds --parts 6 --out demo_out/birds"
"$VENV/bin/partdino" segment data/samples/birds --parts 6 --out demo_out/birds --overwrite

say "done. Look at"
echo "   $ROOT/demo_out/birds/contact_sheet.jpg   the whole collection; a colour is a part"
echo "   $ROOT/demo_out/birds/overlays/           every photo with its parts"
echo "   Your own photos: $VENV/bin/partdino segment FOLDER --parts 6 --out RESULTS"
