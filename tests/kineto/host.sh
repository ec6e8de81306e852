#!/usr/bin/env bash
# host.sh BUILD PLUGIN PYTHON: the host in C (libpu1host.so) with RTL and OpenReg over a HIP program with graphs on the
# software GPU: counts, times, ids and flows, compared with the truth log.
source "$(dirname "$0")/../e2e/lib.sh"
plugin=$1 python=$2
unset RTL_QUEUE
export HOME=$scratch SOFTGPU_PLUGINS=$plugin SOFTGPU_TRUTH=$scratch/truth
openreg=$build/lib/kineto/libopenreg.so

run() {
    env LD_PRELOAD="$soft" "$@" "$bin/kineto_host_graphs" "$openreg" expected >run.out 2>run.err ||
        fail "the program ended with status $?"
    nothing_said run.err
}
check() {
    # shellcheck disable=SC2046 # several arguments
    "$python" "$here/../kineto/host.py" "$1" expected $(tr -dc '0-9 ' <run.out) 2>check.err || fail "the trace is not so"
}

preload=LD_PRELOAD=$build/lib/librtl.so:$build/lib/libpu1host.so:$soft
run "$preload" KINETO_PLUGIN_PATH="$build/lib/kineto:$build/lib/librtl.so" PU1_TRACE=t.json
check t.json
run "$preload" KINETO_PLUGIN_PATH="$build/lib/librtl.so:$build/lib/kineto" PU1_TRACE="%p.json" RTL_KINETO=1
equal "files" "$(find . -maxdepth 1 -name '[0-9]*.json' | wc -l)" 1
check [0-9]*.json

# Nothing is asked for: nothing is written, and nothing loaded.
rm -f ./*.json
run "$preload"
run "$preload" KINETO_PLUGIN_PATH="$build/lib/librtl.so"
equal "files" "$(find . -name '*.json')" ""

# A trace that cannot be written, and no vendor to trace, are said, and cost the program nothing.
env "$preload" KINETO_PLUGIN_PATH="$build/lib/librtl.so" PU1_TRACE=no/folder/t.json \
    "$bin/kineto_host_graphs" "$openreg" expected >run.out 2>run.err || fail "the program ended with status $?"
grep -q '^pu1host: no/folder/t.json could not be written: No such file or directory$' run.err || fail "what is said of the file"
env "$preload" PU1_TRACE=t.json "$bin/kineto_host_graphs" "$openreg" expected >run.out \
    2>run.err || fail "the program ended with status $?"
grep -q 'there is no vendor to trace' run.err || fail "what is said of vendors"
