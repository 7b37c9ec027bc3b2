#!/usr/bin/env bash
# Segments a collection on a Ray cluster that is there already; the run lives on the cluster and
# outlives this terminal:
#
#   RAY_API_SERVER_ADDRESS=http://HEAD:8265 bash scripts/ray_job.sh OUT PARTS INPUT... [-- OPTION...]
#
# The options are those of `partdino segment`. All paths must be absolute and reachable from every
# machine. Stopped, or failed, the same command goes on where it was. Needs ray[default] here and
# there.

set -euo pipefail

if [ $# -lt 3 ]; then
    echo "usage: $0 OUT PARTS INPUT... [-- OPTION...]" >&2
    exit 2
fi
OUT="$1" PARTS="$2" INPUTS=()
shift 2
while [ $# -gt 0 ] && [ "$1" != -- ]; do
    INPUTS+=("$1")
    shift
done
for path in "$OUT" "${INPUTS[@]}"; do
    case "$path" in
        /* | *://*) ;;
        *) echo "$path: a job starts in a folder of its own: give an absolute path" >&2 && exit 2 ;;
    esac
done

exec ray job submit --no-wait -- partdino segment "${INPUTS[@]}" --parts "$PARTS" --out "$OUT" \
    --engine ray --resume "${@:2}"
