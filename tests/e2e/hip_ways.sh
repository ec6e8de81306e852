#!/usr/bin/env bash
# hip_ways.sh BUILD PLUGIN LIBRARY PART: the ways in which a program reaches HIP past what is preloaded. Each is followed, with
# its calls and graphs as without (local), or the trace says that they are missing, and is not complete. LIBRARY is the
# HIP library; PART is which ways: followed, copies, apart, bare. What the program prints, and what it does on the GPU, is as without RTL.
source "$(dirname "$0")/lib.sh"
hip_plugin=$1
hip_library=$2
part=$3
librtl=$(realpath "$build/lib/librtl.so")
library=$bin/hip_ways_library.so
export HIP_WAYS_LIBRARY=$library

# A second copy of HIP, and a library that is linked with it.
mkdir copy
LC_ALL=C sed 's/libamdhip64\.so/libamdhip99.so/g' "$hip_library" >copy/"$(basename "$(readlink -f "$hip_library")")"
soname=$(objdump -p "$hip_library" | awk '/SONAME/ { print $2 }')
mv copy/* "copy/${soname/64/99}"
LC_ALL=C sed 's/libamdhip64\.so/libamdhip99.so/g' "$library" >second.so

# run WAY LIBRARY...: alone, then under `rtl trace -m $mode`: the same status and output; leaves t.db, made, recorded. Mode standard leaves out
# batches, which HIP makes of replays from 7 on.
mode=full
trace=t.db
run() {
    local alone=0 status=0
    LD_PRELOAD=$soft LD_LIBRARY_PATH=copy SOFTGPU_PLUGINS=$hip_plugin "$bin/hip_ways" "$@" >alone.out 2>alone.err || alone=$?
    awk '$1 == "made" { made[$2] += $3 } END { for (name in made) print name "|" made[name] }' alone.out |
        LC_ALL=C sort >made
    rm -f truth.*
    LD_LIBRARY_PATH=copy SOFTGPU_PLUGINS=$hip_plugin SOFTGPU_TRUTH=$scratch/truth.%p "$rtl" trace -q -f -m "$mode" --gpu soft \
        -o t.db -- "$bin/hip_ways" "$@" >traced.out 2>traced.err || status=$?
    equal "exit status without RTL ($*)" "$alone" 0
    equal "exit status ($*)" "$status" 0
    cmp -s alone.out traced.out || fail "the output differs ($*)"
    [ "$mode" = standard ] || equal "kernels ($*)" "$(ask t.db "SELECT count(*) FROM kernels WHERE name LIKE 'hip_add%'")" \
        "$(awk '$1 == "kernels" { kernels += $2 } END { print kernels }' alone.out)"
    ask t.db "SELECT name, count(*) FROM api GROUP BY name" | LC_ALL=C sort >recorded
}

# verdict WANTED [TRUTH...]: of rtl check, whose output is in check.out.
verdict() {
    local status=0
    local wanted=$1
    shift
    "$rtl" check "$trace" "$@" >check.out 2>check.err || status=$?
    equal "status of rtl check" "$status" "$wanted"
}

# followed WAY LIBRARY...: all calls, and each replay as one.
followed() {
    run "$@"
    verdict 0 --truth truth.*
    diff made recorded >differences || fail "calls are not those made ($*): $(head -n 5 differences)"
    equal "replays ($*)" "$(ask t.db "SELECT count(*), min(kernels), max(kernels) FROM graph_launches")" '100|16|16'
    equal "nodes ($*)" "$(ask t.db "SELECT count(*) FROM graph_nodes WHERE name LIKE 'hip_add%'")" 16
    equal "kernels without a call ($*)" "$(ask t.db "SELECT count(*) FROM kernels WHERE correlation IS NULL")" 0
    equal "HIP ($*)" "$(ask t.db "SELECT DISTINCT calls FROM hip_queues")" followed
    grep -q 'not seen' check.out && fail "followed, and not seen ($*)"
    return 0
}

# said CALLS KERNELS: the trace says of so many kernels why their calls are missing, and every reader of it does. From 6 on
# copies of HIP are kernels, too.
said() {
    kernels=$(ask "$trace" "SELECT replace(printf('%,d', $2 + count(*)), ',', ' ') FROM kernels
        WHERE correlation IS NULL AND name LIKE '\_\_amd\_rocclr\_copy%' ESCAPE '\'")
    equal "HIP in the trace" "$(ask "$trace" "SELECT DISTINCT calls FROM hip_queues WHERE calls <> 'followed'")" "$1"
    "$rtl" check --json "$trace" >check.json 2>>check.err || true
    grep -q "\"calls\": \"$1\"" check.json || fail "rtl check --json names no HIP that is '$1'"
    grep -q 'not seen' check.out || fail "rtl check says nothing"
    "$rtl" summary "$trace" >summary.out 2>summary.err
    grep -q "not seen: the host calls of $kernels kernels" summary.out || fail "rtl summary says nothing"
    "$rtl" graph list "$trace" >graphs.out 2>graphs.err
    grep -q "not seen: the host calls of $kernels kernels" graphs.out || fail "rtl graph list says nothing"
    grep -q 'are not in the trace' <("$rtl" info "$trace") || fail "there is no note"
}

# unseen CALLS KERNELS: said, and the verdict is not complete.
unseen() {
    verdict 1
    said "$@"
    grep -q "^INCOMPLETE: .* the host calls of $kernels kernels were not seen" check.out || fail "the verdict says nothing"
}

if [ "$part" = followed ]; then
    for way in local deep deep-lazy dlvsym; do
        followed "$way" "$library"
    done
    exit 0
fi

# The second copy alone is as good as the first. Of two, each library keeps its own; one is followed.
if [ "$part" = copies ]; then
    followed deep "$scratch/second.so"
    run local "$library" "$scratch/second.so"
    unseen other_copy 1600
    # Replays of the other are known by their packets alone, where they are batches.
    equal "replays that were followed" \
        "$(ask t.db "SELECT count(DISTINCT launch) FROM kernels WHERE correlation IS NOT NULL")" 100
    exit 0
fi

if [ "$part" = apart ]; then
    run dlmopen "$library"
    unseen namespace 1600

    # HIP 6.4 (ROCr 1.15), which waits in a constructor for a thread that needs the linker's lock, hangs alone, too.
    [ "$rocr" != 15 ] || exit 0

    # Calls in constructors come before anybody can follow them; those after do not.
    run deep "$bin/hip_ways_early.so"
    verdict 1
    grep -q '^  not seen: the calls that launched 32 kernels of HIP' check.out ||
        fail "calls of a constructor: nothing is said"
    equal "replays after the constructor" "$(ask t.db "SELECT count(DISTINCT launch) FROM kernels WHERE correlation IS NOT NULL")" 100
    exit 0
fi

# Without the preload: by the environment, and because somebody wants it so.
LD_PRELOAD=$soft HSA_TOOLS_LIB=$librtl RTL_MODE=full RTL_OUTPUT=$scratch/env.db SOFTGPU_PLUGINS=$hip_plugin \
    "$bin/hip_ways" local "$library" >env.out 2>env.err || fail "hip_ways failed with the environment alone"
for ((i = 0; i < 600; i++)); do # the collector is a process of its own
    "$rtl" check --json env.db >check.json 2>check.err || true
    grep -q '"finished": true' check.json && break
    sleep 0.1
done
trace=env.db
unseen not_preloaded 1600
trace=t.db
export RTL_PRELOAD=off
run local "$library"
verdict 0
said off 1600
grep -q '^complete: .*, without host calls (RTL_PRELOAD=off)' check.out || fail "the verdict says nothing of RTL_PRELOAD"
unset RTL_PRELOAD

# A mode without host calls promises none.
mode=standard run local "$library"
verdict 0
equal "HIP in mode standard" "$(ask t.db "SELECT DISTINCT calls FROM hip_queues")" left_out
grep -q 'not seen' check.out && fail "host calls are missed in mode standard"

# No HIP, no word. And one that is part of a program shows by ROCclr's kernels.
"$rtl" trace -q -f -m full --gpu soft -o t.db -- "$bin/hsa_storm" --dispatches 1000 >storm.out 2>storm.err
verdict 0
equal "HIPs of an HSA program" "$(ask t.db "SELECT count(*) FROM hip_queues")" 0
grep -q 'not seen\|HIP' check.out && fail "an HSA program, and HIP is named"
E2E_KERNELS=$bin/hip_ways_rocclr.co "$rtl" trace -q -f -m full --gpu soft -o t.db -- "$bin/hsa_storm" --dispatches 1000 \
    >storm.out 2>storm.err
unseen static 1000
