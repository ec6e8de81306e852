#!/usr/bin/env bash
# trace.sh BUILD PLUGIN PROGRAM [ARGUMENT...]: a program is recorded, and `rtl ranges` says what follows from the rows of SQL.
source "$(dirname "$0")/../../e2e/lib.sh"
export SOFTGPU_PLUGINS=$1 SOFTGPU_TRUTH=$scratch/truth HIP_GRAPHS_EXPECTED=$scratch/expected
shift
program=$bin/$1
shift
LD_LIBRARY_PATH=$build/lib/roctx "$rtl" trace -q -m full --gpu soft -o t.db -- "$program" "$@" >traced.out 2>traced.err ||
    fail "the program ended with status $?"
"$rtl" check --truth truth t.db >check.out 2>&1 || fail "rtl check ended with status $?"
python3 "$here/../intercept/ranges/trace.py" "$rtl" t.db >same.out 2>same.err || fail "rtl ranges does not say what SQL has"

# What is no metric is refused by name, with what is near it.
"$rtl" ranges t.db --metrics kernels,lane_uze >refused.out 2>refused.err && fail "a metric that is none was taken"
equal "the sentence" "$(cat refused.err)" "rtl: there is no metric 'lane_uze', did you mean 'lane_use'?"
"$rtl" ranges t.db --range 999999999 >refused.out 2>refused.err && fail "a range that is not there was shown"
grep -q 't.db has no range 999999999' refused.err || fail "the sentence does not name file and range"
