#!/bin/sh
# Usage: symbols.sh FRONT LIBRARY...
# Every function of libdrm that the libraries leave undefined must be in the front, which stands before libdrm.
set -eu
front=$1
shift
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
nm -D --defined-only "$front" | awk '{ print $3 }' | sort -u >"$work/offered"
wanted=0
for library; do
    nm -D --undefined-only "$library" | awk '$2 ~ /^(drm|amdgpu_)/ { sub("@.*", "", $2); print $2 }' | sort -u >"$work/wanted"
    wanted=$((wanted + $(wc -l <"$work/wanted")))
    missing=$(comm -23 "$work/wanted" "$work/offered")
    if [ -n "$missing" ]; then
        echo "$library wants what $front does not have:" $missing >&2
        exit 1
    fi
done
# The thunk of 5.2.3 wants five; fewer than that means that nm has not seen the library.
if [ "$wanted" -lt 5 ]; then
    echo "only $wanted functions of libdrm found in: $*" >&2
    exit 1
fi
# A version would keep what asks for another one from finding them.
if nm -D --defined-only "$front" | grep -q '@'; then
    echo "$front gives its functions versions" >&2
    exit 1
fi
echo "$wanted functions wanted, none missing"
