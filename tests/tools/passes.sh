#!/usr/bin/env bash
# passes.sh BUILD: rtl trace runs a program once for each pass of hardware counters, and what rtl ranges makes of them is what SQL has,
# what one pass for each metric has, and what the device's model says of the grids.
source "$(dirname "$0")/../e2e/lib.sh"
skip_without_counters
unset RTL_QUEUE RTL_METRICS RTL_COUNTING RTL_PASS
export RANGES_EXPECTED=$scratch/expected SOFTGPU_DURATION=300
counted=$here/../tools/counted.py
both=waves,l2_hit,fetch_bytes,write_bytes

# traced FILE ARGUMENT...: a trace of a program with ranges.
traced() {
    local file=$1
    shift
    timeout 200 "$rtl" trace --gpu soft -o "$file" "$@" >traced.out 2>traced.err || fail "the program ended with status $? in $file"
    "$rtl" check "$file" >check.out 2>&1 || fail "rtl check says no of $file"
}

# The cache has room for four counters at once, and these are six.
traced two.db --metrics $both --counting kernel -- "$bin/ranges" nest
head -n 1 traced.err | grep -q 'kernel leaves out kernels of graph replays; --counting range' || fail "what is not counted is not told before the run"
grep -q '^rtl: pass 1 of 2: SQ_WAVES, TCC_HIT, TCC_MISS, TCC_EA_RDREQ, TCC_EA_RDREQ_32B$' traced.err || fail "the first pass was not told"
grep -q '^rtl: pass 2 of 2: TCC_EA_WRREQ, TCC_EA_WRREQ_64B$' traced.err || fail "the second pass was not told"
equal "passes in the trace" "$("$rtl" sql two.db 'SELECT process, pass, passes, metrics FROM counting' | xargs)" "1|0|2|$both 2|1|2|$both"
python3 "$counted" "$rtl" two.db >same.out 2>same.err || fail "rtl ranges does not say what SQL has"
equal "unmatched" "$("$rtl" ranges two.db --json | python3 -c '
import json, sys
how = json.load(sys.stdin)["counting"]
print(how["unmatched_kernels"], how["unmatched_ranges"], how["changed_ranges"])')" "0 0 0"

# Each metric alone, in a pass of its own.
traced fetch.db -q --metrics fetch_bytes --counting kernel -- "$bin/ranges" nest
traced write.db -q --metrics write_bytes --counting kernel -- "$bin/ranges" nest
[ ! -s traced.err ] || fail "rtl trace -q is not quiet"
cat >alone.py <<'END'
import json
import subprocess
import sys


def ranges(trace, metric):
    said = json.loads(subprocess.run([sys.argv[1], 'ranges', trace, '--json', '-m', metric], check=True, capture_output=True).stdout)
    return {row['name']: row['metrics'][metric] for row in said['ranges']}


for metric, alone in ('fetch_bytes', 'fetch.db'), ('write_bytes', 'write.db'):
    together, single = ranges('two.db', metric), ranges(alone, metric)
    if together != single or not any(single.values()):
        sys.exit(f'{metric}: {together} with others, {single} alone')

# A wave has 64 work-items.
rows = json.loads(subprocess.run([sys.argv[1], 'sql', '--json', 'two.db', '''
    SELECT r.name, k.grid_x, k.grid_y, k.grid_z, k.block_x, k.block_y, k.block_z FROM kernels k JOIN ranges r ON r.process = k.process AND r.id = k.range
    WHERE k.process = 1'''], check=True, capture_output=True).stdout)
waves, parents = {}, {}
for row in json.loads(subprocess.run([sys.argv[1], 'sql', '--json', 'two.db', '''
    SELECT r.name, p.name AS parent FROM ranges r LEFT JOIN ranges p ON p.process = r.process AND p.id = r.parent WHERE r.process = 1'''],
        check=True, capture_output=True).stdout):
    parents[row['name']] = row['parent']
for row in rows:
    block = [row[f'block_{axis}'] for axis in 'xyz']
    grid = [row[f'grid_{axis}'] for axis in 'xyz']
    sizes = [[min(block[i], grid[i] - at) for at in range(0, grid[i], block[i])] for i in range(3)]
    own = sum(-(-x * y * z // 64) for x in sizes[0] for y in sizes[1] for z in sizes[2])
    name = row['name']
    while name is not None:
        waves[name] = waves.get(name, 0) + own
        name = parents[name]
said = {name: value for name, value in ranges('two.db', 'waves').items() if value is not None}
if said != waves or not waves:
    sys.exit(f'rtl ranges says {said} waves, the grids {waves}')
END
python3 alone.py "$rtl" >alone.out 2>alone.err || fail "a metric depends on its neighbours or on nothing"

# Whole ranges, in two passes as well.
traced whole.db --metrics $both -- "$bin/ranges" random
python3 "$counted" "$rtl" whole.db >same.out 2>same.err || fail "rtl ranges does not say what SQL has of whole ranges"

# A pass that fails is the last one.
status=0
"$rtl" trace --gpu soft --metrics $both --counting kernel -o three.db -- sh -c "'$bin/ranges' nest; exit 3" >three.out 2>three.err || status=$?
equal "status of a program that fails" $status 3
grep -q 'of 2 passes 1 is made' three.err || fail "that a pass failed was not told"
equal "passes of a program that fails" "$("$rtl" sql three.db 'SELECT count(*) FROM counting')" 1
status=0
"$rtl" trace --gpu soft --metrics $both --counting kernel -o once.db -- sh -c "[ ! -e mark ] || exit 4; touch mark; '$bin/ranges' nest" \
    >once.out 2>once.err || status=$?
equal "status of a second pass that fails" $status 4
"$rtl" ranges once.db -m waves >once.out 2>&1 || fail "the first pass is not there"

# So is one that somebody has stopped, however the program takes that.
"$rtl" trace --gpu soft --metrics $both --counting kernel -o stopped.db -- sh -c "'$bin/ranges' nest; kill -INT \$PPID; sleep 0.2" >stopped.out 2>stopped.err ||
    fail "a program that was not stopped did not end well"
grep -q 'the program was stopped: of 2 passes 1 is made' stopped.err || fail "that the program was stopped was not told"

# Without counters the program runs once, as it would have.
SOFTGPU_COUNTERS_FAULT=absent "$rtl" trace --gpu soft --metrics $both -o none.db -- "$bin/ranges" nest >none.out 2>none.err ||
    fail "the program does not run without counters"
grep -q '^rtl: no hardware counters were read: ..*' none.err || fail "that there are no counters was not told"
equal "runs without counters" "$("$rtl" sql none.db 'SELECT count(*) FROM processes')" 1
"$rtl" check none.db >check.out 2>&1 || fail "rtl check says no of none.db"

# Where no range was counted, all who would show a number say why, and how to get one.
# numberless FILE WHY: they do.
numberless() {
    local command
    for command in summary ranges; do
        "$rtl" $command "$1" >why.out 2>&1 || fail "rtl $command $1"
        [ "$(grep -c "no number: counters are read where a range begins and ends, and $2" why.out)" = 1 ] || fail "rtl $command $1 does not say '$2'"
        grep -q 'record with --counting kernel, which counts each kernel but those of graph replays' why.out || fail "rtl $command $1 says no way to a number"
    done
    "$rtl" check "$1" >why.out || fail "rtl check says no of $1"
    grep -q 'no range was counted' why.out || fail "rtl check does not say that no range of $1 was counted"
}
traced bare.db --metrics waves -- "$bin/ends" shut-down
grep -q 'no number: .* there is no range here' traced.err || fail "rtl trace does not say why there is no number"
numberless bare.db "there is no range here"
cat >idle.py <<'END'
import ctypes, ctypes.util
roctx = ctypes.CDLL("libroctx64.so.4")
hip = ctypes.CDLL(ctypes.util.find_library("amdhip64"))
memory = ctypes.c_void_p()
hip.hipMalloc(ctypes.byref(memory), ctypes.c_size_t(4096))
roctx.roctxRangePushA(b"nothing")
roctx.roctxRangePop()
hip.hipMemsetAsync(memory, 0, ctypes.c_size_t(4096), None)
hip.hipDeviceSynchronize()
END
# A sanitizer would have to be in Python from the start.
if [ -z "${E2E_SANITIZER:-}" ] && /usr/bin/python3 -c 'import ctypes, ctypes.util, sys; sys.exit(not ctypes.util.find_library("amdhip64"))'; then
    traced idle.db --metrics waves -- /usr/bin/python3 idle.py
    numberless idle.db "no range here ended with work on a GPU in it"
fi
# What is advised counts them; and where ranges were counted, or nothing was asked for, there is nothing to be said.
traced each.db --metrics waves --counting kernel -- "$bin/ends" shut-down
equal "kernels that were counted" "$("$rtl" check --json each.db | jq '.counters[0].counted')" 100
traced no.db -- "$bin/ends" shut-down
for file in each whole no; do
    { "$rtl" summary $file.db && "$rtl" ranges $file.db && "$rtl" check $file.db; } >why.out 2>&1 || fail "$file.db cannot be read"
    ! grep -q -e 'no number' -e 'no range was counted' why.out || fail "numbers of $file.db are told to be missing"
done
