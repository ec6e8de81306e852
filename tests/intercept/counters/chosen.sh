#!/usr/bin/env bash
# chosen.sh BUILD PLUGIN PROGRAM...: rtl trace --kernel counts the kernels whose demangled names match, and records all: their waves are those of
# a run in which each kernel was counted.
source "$(dirname "$0")/../../e2e/lib.sh"
skip_without_counters
unset RTL_QUEUE
export SOFTGPU_PLUGINS=$1
shift
pattern='^decode::(norm|matvec)\(int'

record() {
    "$rtl" trace -q --gpu soft -m standard --metrics SQ_WAVES --counting kernel "${@:2}" -o "$1.db" -- "${program[@]}" >traced.out 2>traced.err ||
        fail "the program ended with status $?"
    "$rtl" check "$1.db" >check.out 2>&1 || fail "rtl check of $1.db ended with status $?"
}

# What was counted, and the kernels that there are.
waves() {
    ask "$1.db" "SELECT k.name, count(*), sum(c.value) FROM kernels k JOIN kernel_counters c USING (process, queue, packet)
        WHERE c.name = 'SQ_WAVES' ${2:+AND k.name REGEXP '$2'} GROUP BY k.name ORDER BY k.name"
}
names() {
    ask "$1.db" "SELECT name, count(*) FROM kernels GROUP BY name ORDER BY name"
}

program=("$@")
record all
record some --kernel "$pattern"
[ "$(waves all "$pattern" | wc -l)" -gt 0 ] || fail "no kernel has such a name"
[ "$(waves all "$pattern" | wc -l)" -lt "$(waves all | wc -l)" ] || fail "each kernel has such a name"
equal "what was counted" "$(waves some)" "$(waves all "$pattern")"
equal "kernels in the trace" "$(names some)" "$(names all)"
equal "what was not counted" "$(ask some.db "SELECT why, sum(count) FROM uncounted GROUP BY why ORDER BY why")" \
    "$(ask all.db "SELECT 'name', count(*) FROM kernels WHERE NOT name REGEXP '$pattern'")"
"$rtl" summary some.db >summary.out
grep -q 'not asked for by --kernel' summary.out || fail "the summary does not tell why"

# A pattern that is in no name is told, also by a quiet rtl, and one pass is enough to know it.
"$rtl" trace -q --gpu soft -m standard --metrics waves,l2_hit,fetch_bytes,valu_per_wave --counting kernel --kernel _ZN6decode -o none.db -- \
    "${program[@]}" >traced.out 2>traced.err || fail "the program ended with status $?"
equal "what is said of a pattern in no name" "$(grep '^rtl: ' traced.err)" \
    "rtl: --kernel '_ZN6decode' is in the name of none of $(ask all.db "SELECT count(*) FROM kernels") kernels: names are demangled, as rtl summary has them"

# The library's own setting: of a pattern that is none, and of ranges.
RTL_METRICS_KERNEL='(' record bad
grep -qxF "rtl: RTL_METRICS_KERNEL: '(' is no regular expression: Unmatched ( or \\(; all kernels are counted" traced.err ||
    fail "nothing is said of the pattern"
equal "what was counted" "$(waves bad)" "$(waves all)"
# Without a metric there is nothing to count in them.
RTL_METRICS_KERNEL=norm "$rtl" trace -q --gpu soft -m standard -o nothing.db -- "${program[@]}" >traced.out 2>traced.err || fail "the program ended with status $?"
grep -qxF "rtl: RTL_METRICS_KERNEL names kernels, and RTL_METRICS nothing to count in them" traced.err || fail "nothing is said where no metric is named"
