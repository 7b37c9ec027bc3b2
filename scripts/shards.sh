# The steps of a run in shards; multi_gpu.sh and slurm_array.sbatch source this file and set
#
#   OUT       the output folder
#   WORK      a folder for what comes before it
#   COUNT     the number of shards
#   PARTS     the number of parts
#   INPUTS    array: folders, images, lists of paths
#   OPTIONS   array: options of `partdino features`
#   WORKERS   processes of each shard (default: one for each core that it may use)
#   PARTDINO  the command (default: partdino)
#
# Each step may be run again: what is done is left alone, and what was stopped goes on. What is behind
# URLs is listed once; without $WORK/lists, it is listed anew.

PARTDINO="${PARTDINO:-partdino}"

# Exit code 1 says that some images failed: they are listed, and the others go on.
some_may_fail() { "$@" || [ $? -eq 1 ]; }

describe_shard() { # NUMBER DEVICE
    some_may_fail "$PARTDINO" features "${INPUTS[@]}" --out "$WORK/features-$1" \
        --shard "$1/$COUNT" --device "$2" --resume --lists "$WORK/lists" ${WORKERS:+--workers "$WORKERS"} \
        "${OPTIONS[@]}"
}

fit_parts() {
    "$PARTDINO" fit "$WORK"/features-* --parts "$PARTS" --out "$WORK/parts.safetensors" --overwrite
}

# Named by the model and by what is described, so that labels of others are never taken for these.
labels() {
    local sources=("$WORK/parts.safetensors" "$WORK"/features-*/{store.json,failures.csv})
    echo "$WORK/labels-$(cat "${sources[@]}" | sha256sum | cut -c 1-16)"
}

label_shard() { # NUMBER
    local out
    out="$(labels)-$1"
    [ -e "$out/run.json" ] && [ ! -e "$out/.partdino" ] || some_may_fail "$PARTDINO" label "$WORK"/features-* \
        --model "$WORK/parts.safetensors" --out "$out" --shard "$1/$COUNT" --resume \
        ${WORKERS:+--workers "$WORKERS"}
}

merge_shards() {
    "$PARTDINO" merge "$OUT" "$(labels)"-* --overwrite
}

# Splits OUT PARTS INPUT... [-- OPTION...] into the variables above.
read_arguments() {
    if [ $# -lt 3 ]; then
        echo "usage: $0 OUT PARTS INPUT... [-- OPTION...]" >&2
        exit 2
    fi
    OUT="$1" PARTS="$2" WORK="$1.work" INPUTS=() OPTIONS=()
    shift 2
    while [ $# -gt 0 ] && [ "$1" != -- ]; do
        INPUTS+=("$1")
        shift
    done
    OPTIONS=("${@:2}")
    mkdir -p "$WORK"
}
