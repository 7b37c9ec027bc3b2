#!/usr/bin/env bash
# Segments a collection on all GPUs of one machine, one process each:
#
#   bash scripts/multi_gpu.sh OUT PARTS INPUT... [-- OPTION...]
#
# The options are those of `partdino features`. What comes before OUT lies in OUT.work, which may be
# deleted at the end. Stopped or killed, the same command goes on where it was.
#
#   DEVICES   what to run on, one process each (default: every GPU that nvidia-smi lists);
#             DEVICES="cpu cpu" runs two processes without one
#   WORKERS   processes that decode and cut for each (default: its share of the cores)
#   PARTDINO  the command (default: partdino)

set -euo pipefail

# shellcheck source=scripts/shards.sh
source "$(dirname "${BASH_SOURCE[0]}")/shards.sh"
read_arguments "$@"
read -ra DEVICES <<<"${DEVICES:-$(nvidia-smi --query-gpu=index --format=csv,noheader |
    sed 's/^/cuda:/' | tr '\n' ' ')}"
COUNT="${#DEVICES[@]}"
if [ "$COUNT" -eq 0 ]; then
    echo "no GPU was found: name the devices, as in DEVICES=\"cpu cpu\"" >&2
    exit 2
fi
WORKERS="${WORKERS:-$((($(nproc) + COUNT - 1) / COUNT))}"

# Each shard's processes are a group of their own (-m), which gets the signal that this one gets.
set -m
stop() {
    trap '' INT TERM
    for group in $(jobs -p); do
        kill -TERM -- "-$group" 2>/dev/null || true
    done
    for group in $(jobs -p); do # what they are told they say, and then they end
        while kill -0 -- "-$group" 2>/dev/null; do sleep 0.1; done
    done
    exit "$1"
}
trap 'stop 130' INT
trap 'stop 143' TERM

wait_for_all() {
    local code worst=0
    for process in $(jobs -p); do
        code=0
        wait "$process" || code=$?
        [ "$code" -le "$worst" ] || worst="$code"
    done
    return "$worst"
}

for number in $(seq "$COUNT"); do
    describe_shard "$number" "${DEVICES[number - 1]}" &
done
wait_for_all
fit_parts &
wait_for_all
for number in $(seq "$COUNT"); do
    label_shard "$number" &
done
wait_for_all
merge_shards &
wait_for_all
