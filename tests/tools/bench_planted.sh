#!/usr/bin/env bash
# rtl bench: the verdicts of tools whose outcome is planted.
source "$(dirname "$0")/bench_lib.sh"

# What tools are told to have done. 101 kernels: one to warm up.
planted=(
    -t 'name=exact,command={program},count=echo 101'
    -t 'name=loses,command=echo x >{out}; {program},count=echo 91'
    -t 'name=invents,command={program},count=echo 102'
    -t 'name=blind,command={program}'
    -t 'name=crashes,command={program}; echo last words >&2; kill -SEGV $$'
    -t 'name=fails,command={program}; exit 7'
    -t 'name=swallows,command={program} >/dev/null'
    -t 'name=babbles,command=head -c 3000 /dev/urandom; {program}; head -c 3000 /dev/urandom,count=echo 101'
    -t 'name=nonsense,command={program},count=echo about 101'
    -t 'name=uncountable,command={program},count=exit 1'
    -t 'name=liar,command=echo "rtl-bench-work: kernels=101 copies=0 begin_ns=1 end_ns=2 peak_kib=1 gpu=x"; : {program}'
    -t 'name=env,env=PLANTED={out}/e,command=test -n "$PLANTED" && {program}'
)
bench 1 -w eager -k 100 -r 2 "${planted[@]}"
equal "exact" "$(of exact 'tool["completeness"]["lost"] + tool["completeness"]["wrong"]')" 0
equal "loses" "$(of loses 'tool["completeness"]["lost"]')" 10
equal "bytes of what it wrote" "$(of loses 'round(tool["bytes_per_kernel"]["median"] * 91)')" 2
equal "invents" "$(of invents 'tool["completeness"]["wrong"]')" 1
equal "blind" "$(of blind '(tool["outcome"], tool["completeness"])')" "('fine', None)"
equal "crashes" "$(of crashes '(tool["outcome"], tool["problem"], tool["fine_runs"])')" "('died', 'died of signal 11: last words', 0)"
equal "fails" "$(of fails '(tool["outcome"], "status 7" in tool["problem"])')" "('failed', True)"
equal "swallows" "$(of swallows 'tool["outcome"]')" "no result"
equal "babbles" "$(of babbles '(tool["outcome"], tool["completeness"]["recorded"])')" "('fine', 101)"
equal "nonsense" "$(of nonsense '(tool["outcome"], "no number" in tool["problem"])')" "('not countable', True)"
equal "uncountable" "$(of uncountable '(tool["outcome"], "failed" in tool["problem"])')" "('not countable', True)"
equal "liar" "$(of liar 'tool["outcome"]')" "no result"
equal "env" "$(of env 'tool["outcome"]')" fine
grep -q '^rtl: ' bench.err || fail "a failed tool is not told of"
equal "runs" "$(of exact 'len(tool["runs"])')" 2
