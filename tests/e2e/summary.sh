#!/usr/bin/env bash
# summary.sh BUILD PLUGIN PROGRAM [ARGUMENT...]: a program is recorded, and `rtl summary` says of the whole and of windows of time what
# follows from the rows of SQL.
source "$(dirname "$0")/lib.sh"
export SOFTGPU_PLUGINS=$1 SOFTGPU_TRUTH=$scratch/truth HIP_GRAPHS_EXPECTED=$scratch/expected
shift
program=$bin/$1
shift

same() {
    python3 "$here/summary.py" "$rtl" t.db "$@" >same.out 2>same.err || fail "the summary ${*:-of the whole} is not what SQL has"
}

"$rtl" trace -q -m full --gpu soft -o t.db -- "$program" "$@" >traced.out 2>traced.err || fail "the program ended with status $?"
same
read -r kernels copies rest <same.out
[ $((kernels + copies)) -gt 0 ] || fail "nothing was compared ($rest)"
# Windows that begin and end within kernels or copies.
for quarter in 0 1 2; do
    read -r from to < <(ask t.db "WITH all_rows AS (SELECT start, end FROM kernels UNION ALL SELECT start, end FROM copies
        WHERE start IS NOT NULL), ordered AS (SELECT *, ntile(4) OVER (ORDER BY start) - 1 AS part FROM all_rows)
        SELECT min((start + end) / 2) || ' ' || max((start + end) / 2) FROM ordered WHERE part = $quarter")
    same "$from" "$to"
done
