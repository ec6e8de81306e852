#!/usr/bin/env bash
# memory.sh BUILD PLUGIN: what a program allocated, as its source has it (memory.hip).
source "$(dirname "$0")/lib.sh"
export SOFTGPU_PLUGINS=$1
"$rtl" trace -q -m full --gpu soft -o t.db -- "$bin/memory" >t.out 2>t.err || fail "the program ended with status $?"
"$rtl" memory --json t.db >t.json || fail "rtl memory ended with status $?"

# kind KIND FIELD
kind() {
    jq -r --arg kind "$1" ".processes[0].kinds[] | select(.kind == \$kind) | .$2" t.json
}
mib=1048576
equal "device: peak" "$(kind device peak_bytes)" $((6 * mib + mib / 2))
equal "device: allocations, bytes" "$(kind device allocations) $(kind device bytes)" "5 $((8 * mib))"
equal "device: never freed" "$(kind device left) $(kind device left_bytes)" "1 $((2 * mib))"
equal "device: holders at the peak" "$(kind device 'holders[] | "\(.bytes) \(.allocations) \(.largest) \(.call) \(.range)"')" \
    "$((6 * mib)) 2 $((4 * mib)) hipMalloc cache
$((mib / 2)) 1 $((mib / 2)) hipMalloc null"
equal "host" "$(kind host peak_bytes) $(kind host allocations) $(kind host left)" "65536 1 0"
equal "failed, and frees of what is not known" "$(jq -r '.processes[0] | "\(.failed) \(.freed_unknown)"' t.json)" "1 0"
equal "single allocations" "$(jq -r '.processes[0].allocations[] | select(.kind == "device") | "\(.bytes) \(.to_ns != null)"' t.json)" \
    "$mib true
$((2 * mib)) false
$((4 * mib)) true
$((mib / 2)) true
$((mib / 2)) true"
# Four threads: an address that one gives back is another's at once, and no more than four MiB are held at a time.
"$rtl" trace -q -m full --gpu soft -o threads.db -- "$bin/memory" threads >t.out 2>t.err || fail "the threads ended with status $?"
"$rtl" memory --json threads.db >threads.json
equal "of threads: allocations, left, frees of what is not known" \
    "$(jq -r '.processes[0] | "\(.kinds[0].allocations) \(.kinds[0].left) \(.freed_unknown)"' threads.json)" "1200 0 0"
[ "$(jq '.processes[0].kinds[0].peak_bytes' threads.json)" -le $((4 * mib)) ] || fail "four threads held more than 4 MiB"

# What was freed while recording was stopped is gone once its address is given out again.
"$rtl" trace -q -m full --gpu soft -o stopped.db -- "$bin/memory" stopped >stopped.out 2>t.err || fail "status $? with stops"
places=$(grep '^at' stopped.out | sort -u | wc -l)
"$rtl" memory stopped.db >text.out
equal "of $places addresses: left" "$("$rtl" memory --json stopped.db | jq '.processes[0].kinds[0].left')" "$places"
grep -qF "recording was stopped for a time" text.out || fail "nothing is said of the stops: $(cat text.out)"

# The peak is since the first 512 KiB.
equal "when" "$(kind device peak_ns)" "$(jq -r '[.processes[0].allocations[] | select(.kind == "device")][3].from_ns' t.json)"

"$rtl" memory t.db >text.out || fail "rtl memory ended with status $?"
for text in "device memory: 6.5 MiB at most" "2.0 MiB in 1 not freed while RTL recorded" "host memory: 64.0 KiB at most" \
    "1 allocation got no memory"; do
    grep -qF "$text" text.out || fail "the text does not say '$text': $(cat text.out)"
done
