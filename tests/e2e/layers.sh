#!/usr/bin/env bash
# The layers of the demo's decode graph: as many as the program was told to have, of as many kernels as its graph grows
# by for each; their times against the kernels in the trace.
source "$(dirname "$0")/lib.sh"
export SOFTGPU_PLUGINS=$build/lib/softgpu/decode_plugin.so

for layers in 7 9; do
    "$rtl" trace -q -m full --gpu soft -o $layers.db -- "$build/bin/rtl-demo-decode" --tokens 40 --layers $layers \
        >$layers.out 2>$layers.err ||
        fail "the demo with $layers layers ended with status $?"
done
# captured LAYERS: kernels of the graph, as the program says.
captured() {
    sed -n 's/.* replays of a graph of \([0-9]*\)$/\1/p' "$1.out"
}
/usr/bin/python3 "$here/layers.py" "$rtl" 9.db 9 $((($(captured 9) - $(captured 7)) / 2)) "$(captured 9)" ||
    fail "the layers are not those of the program"

# Two layers are too few to tell.
"$rtl" trace -q -m full --gpu soft -o 2.db -- "$build/bin/rtl-demo-decode" --tokens 10 --layers 2 >2.out 2>2.err ||
    fail "the demo with 2 layers ended with status $?"
"$rtl" graph show 2.db 1 --layers >none.out || fail "rtl graph show ended with status $? where there are no layers"
equal "sentences about layers" "$(grep -c 'no repeating block was found' none.out)" 1
