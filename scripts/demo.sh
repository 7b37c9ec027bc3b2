#!/usr/bin/env bash
# Sets everything up and runs the main job on sample photos:
#
#   bash scripts/demo.sh
#
# Works from any folder and may be run again: see setup.sh for what it makes and where.
# The results are written to demo_out in the repository, replacing those of an earlier run.

set -euo pipefail

# shellcheck source=scripts/setup.sh
source "$(dirname "${BASH_SOURCE[0]}")/setup.sh"
cd "$ROOT"

segment() {
    say "partdino segment $*"
    "$VENV/bin/partdino" segment "$@"
}

say "samples: photos in data/samples"
"$VENV_PYTHON" scripts/make_samples.py data/samples

segment data/samples/animals/images --parts 6 --out demo_out/animals --overwrite
# The cat fills its photos: there is no background to find.
segment data/samples/cat --parts 4 --foreground none --out demo_out/cat --overwrite

say "done. Look at"
for name in animals cat; do
    echo "   $ROOT/demo_out/$name/contact_sheet.jpg   the whole collection; a colour is a part"
    echo "   $ROOT/demo_out/$name/overlays/           every photo with its parts"
done
echo "   Your own photos: $VENV/bin/partdino segment FOLDER --parts 6 --out RESULTS"
