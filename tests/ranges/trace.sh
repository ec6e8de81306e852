#!/usr/bin/env bash
# trace.sh BUILD PLUGIN PROGRAM [ARGUMENT...]: a program is recorded, and `rtl ranges` says what follows from the rows of SQL.
source "$(dirname "$0")/../e2e/lib.sh"
export SOFTGPU_PLUGINS=$1 SOFTGPU_TRUTH=$scratch/truth HIP_GRAPHS_EXPECTED=$scratch/expected
shift
program=$bin/$1
shift
LD_LIBRARY_PATH=$build/lib/roctx "$rtl" trace -q -m full --gpu soft -o t.db -- "$program" "$@" >traced.out 2>traced.err ||
    fail "the program ended with status $?"
"$rtl" check --truth truth t.db >check.out 2>&1 || fail "rtl check ended with status $?"
python3 "$here/../ranges/trace.py" "$rtl" t.db >same.out 2>same.err || fail "rtl ranges does not say what SQL has"
