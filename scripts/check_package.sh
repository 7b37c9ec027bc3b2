#!/usr/bin/env bash
# Builds the wheel and the sdist, checks them, and uses the wheel where the repository is not.
#
#   bash scripts/check_package.sh
#
# The wheel is installed into a new environment that sees the libraries of the first one, but not
# the repository.

set -euo pipefail

EXTRAS="dev"
# shellcheck source=scripts/setup.sh
source "$(dirname "${BASH_SOURCE[0]}")/setup.sh"

WORK="$(mktemp -d)"
trap 'rm -rf "$WORK"' EXIT

say "package: building"
"$VENV_PYTHON" -m build --outdir "$WORK/dist" "$ROOT" >"$WORK/log" 2>&1 || { cat "$WORK/log" && fail "it does not build"; }
"$VENV_PYTHON" -m twine check --strict "$WORK"/dist/* >"$WORK/log" || { cat "$WORK/log" && fail "twine refuses it"; }

say "package: using the wheel in an empty folder"
"$VENV_PYTHON" -m venv --without-pip "$WORK/venv"
"$VENV_PYTHON" -m pip install --quiet --disable-pip-version-check --no-deps \
    --target "$WORK/site" "$WORK"/dist/*.whl
LIBRARIES="$("$VENV_PYTHON" -c 'import sysconfig; print(sysconfig.get_path("purelib"))')"
cd "$WORK"
export PYTHONPATH="$WORK/site:$LIBRARIES"
run() { "$WORK/venv/bin/python" -m partdino "$@"; }
"$WORK/venv/bin/python" -c '
import pathlib, sys, partdino
place = pathlib.Path(partdino.__file__).parent
assert place.is_relative_to(sys.argv[1]), f"partdino is that of {place}"
for name in ("py.typed", "runs/review/web/static/index.html", "runs/review/web/static/main.js"):
    assert (place / name).is_file(), f"{name} is missing"
' "$WORK/site"
run --help >/dev/null
run synth animals --layout photos --images 4 --size 160 --quiet
run segment animals/images --parts 3 --backbone efficientnet-lite2 --device cpu --boundaries gradient \
    --image-size 160 --region-size 160 --out parts --quiet
run segment animals/images --model parts/parts.safetensors --out more --quiet
cmp parts/parts.csv more/parts.csv
run report parts --out report.html --quiet
say "package: the wheel works"
