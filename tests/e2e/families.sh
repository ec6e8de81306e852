#!/usr/bin/env bash
# families.sh BUILD: the kernels of the demo by family are those that its source launches, and their times are those of SQL; rules
# of a file come first, and a file that has none is refused with a sentence.
source "$(dirname "$0")/lib.sh"
export SOFTGPU_PLUGINS=$build/lib/softgpu/decode_plugin.so

"$rtl" trace -q -m full --gpu soft -o t.db -- "$build/bin/rtl-demo-decode" --tokens 20 --layers 4 >t.out 2>t.err ||
    fail "the demo ended with status $?"
cat >rules <<'END'
# Products beside the others.
^decode::(gated|down) = feed forward
decode = the rest
END
python3 "$here/families.py" "$rtl" t.db rules 21 4 || fail "a family has not what the demo launches"

# refused SENTENCE OPTION...: status 2, and that sentence.
refused() {
    local status=0
    "$rtl" summary t.db "${@:2}" >refused.out 2>refused.err || status=$?
    equal "status of ${*:2}" $status 2
    equal "what ${*:2} says" "$(cat refused.err)" "rtl: $1"
    [ ! -s refused.out ] || fail "${*:2} shows something"
}
printf 'gemm = gemm\n\n# (\n(a = b\n' >bad
refused "bad, line 4: '(a' is no regular expression: Unmatched ( or \\(" --by family --families bad
printf 'gemm\n' >bad
refused "bad, line 1: a rule is PATTERN = FAMILY" --by family --families bad
printf '%01001d = long\n' 0 >bad
refused "bad, line 1: a pattern has 1000 bytes at most" --by family --families bad
refused "none cannot be opened: No such file or directory" --by family --families none
yes '# nothing' | head -n 10001 >bad || true
refused "bad has more than 10000 lines" --by family --families bad
yes 'a = b' | head -n 1001 >bad || true
refused "bad, line 1001: a file has 1000 rules at most" --by family --families bad
# 40 bytes that the C library would write out to a million characters.
echo '((a{1,99}){1,99}){1,99} = b' >bad
refused "bad, line 1: the patterns up to here are too large: 100000 characters at most, repetitions such as {2,9} and + written out" \
    --by family --families bad
refused "--families is given twice" --by family --families rules --families rules
refused "--by is given twice" --by family --by name
refused "--families is for --by family" --families rules
refused "--by is name or family, not 'queue'" --by queue
refused "families have no p99: --sort is total, calls, mean or name" --by family --sort p99
