#!/usr/bin/env bash
# closes.sh BUILD: programs that close every descriptor, that may have few, and that go on as a daemon: all their kernels are in the
# trace, or the trace says what is missing. With fewer than nine the driver and the files that tell of it cannot be open.
source "$(dirname "$0")/lib.sh"
program=("$bin/hsa_storm" --dispatches 20000 --batch 8)

for how in all "few 9" "few 10" "few 12" "few 16" daemon; do
    status=0
    # shellcheck disable=SC2086
    "$rtl" trace -q -f --gpu soft -o t.db -- "$bin/closes" $how "${program[@]}" >run.out 2>run.err || status=$?
    equal "$how: status" "$status" 0
    if "$rtl" check t.db >check.out 2>&1; then
        equal "$how: kernels" "$(ask t.db 'SELECT count(*) FROM kernels')" 20000
    else
        grep -q 'RLIMIT_NOFILE\|of the program went on' check.out || fail "$how: the trace does not say what is missing"
    fi
done

# What goes on and has nothing to do with a GPU is told, and not waited for.
"$rtl" trace -q -f --gpu soft -o t.db -- sh -c 'sleep 60 </dev/null >/dev/null 2>&1 & echo $!' >pid.out 2>run.err || fail "a shell: status $?"
kill "$(cat pid.out)"
equal "the process that went on" "$(ask t.db 'SELECT text FROM notes' | sed -n 's/.*went on when the recording ended (pid \([0-9]*\)).*/\1/p')" "$(cat pid.out)"
