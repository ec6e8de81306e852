#!/bin/sh
# Usage: symbols.sh THUNK LIBRARY...
# Every hsaKmt symbol that the libraries leave undefined must be in the thunk, with its version.
set -eu
thunk=$1
shift
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
nm -D --defined-only "$thunk" | awk '{ sub("@@", "@", $3); print $3 }' | sort -u >"$work/offered"
wanted=0
for library; do
    nm -D --undefined-only "$library" | awk '$2 ~ /^hsaKmt/ { print $2 }' | sort -u >"$work/wanted"
    wanted=$((wanted + $(wc -l <"$work/wanted")))
    missing=$(comm -23 "$work/wanted" "$work/offered")
    if [ -n "$missing" ]; then
        echo "$library wants what $thunk does not have:" $missing >&2
        exit 1
    fi
done
# ROCr 5.2.3 wants 42; fewer than that means that nm has not seen the library.
if [ "$wanted" -lt 42 ]; then
    echo "only $wanted hsaKmt symbols found in: $*" >&2
    exit 1
fi
echo "$wanted symbols wanted, none missing"
