#!/usr/bin/env bash
# sizes.sh BUILD [KERNELS [JITTER]]: bytes per kernel of the same events as a trace and in the formats that `rtl export` writes, as they are
# and compressed. 204800 kernels and 2 (percent) when absent; write_sizes.c says what the events are. Needs gzip and zstd.
set -euo pipefail
build=$1 kernels=${2:-204800} jitter=${3:-2}
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

per_kernel() {
    awk -v bytes="$1" -v kernels="$kernels" 'BEGIN { printf "%.2f", bytes / kernels }'
}

# row NAME FILE: the file is removed.
row() {
    printf '| %s | %s | %s | %s |\n' "$1" "$(per_kernel "$(stat -c %s "$2")")" \
        "$(per_kernel "$(gzip -6 -c "$2" | wc -c)")" "$(per_kernel "$(zstd -3 -q -c "$2" | wc -c)")"
    rm "$2"
}

for kind in replay eager; do
    "$build/tests/bin/write_sizes" $kind "$kernels" "$jitter" "$scratch/t.db"
    printf '\n| %s, %s kernels, %s %% jitter | bytes per kernel | with gzip -6 | with zstd -3 |\n|---|---|---|---|\n' $kind "$kernels" "$jitter"
    for format in rpd rocpd rocprofv3 chrome perfetto csv; do
        "$build/bin/rtl" export "$scratch/t.db" -F $format -o "$scratch/$format" 2>"$scratch/err" || cat "$scratch/err" >&2
        row $format "$scratch/$format"
    done
    row "RTL" "$scratch/t.db"
done
