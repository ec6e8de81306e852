#!/bin/bash
# softgpu-run: its sentences, the environment it makes, and the printing of logs.
#   run.sh SOFTGPU-RUN DEMO PLUGIN
set -u
run=$1 demo=$2 plugin=$3
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failed=0

complain() {
    echo "run.sh: $*" >&2
    failed=1
}

# The command fails with one line on stderr that contains the text.
refuses() {
    local text=$1
    shift
    if "$@" >"$work/out" 2>"$work/err"; then
        complain "'$*' should fail"
    fi
    grep -qF -- "$text" "$work/err" || complain "'$*' does not say '$text': $(cat "$work/err")"
}

refuses "a PROGRAM is missing" "$run"
refuses "/no/such/program: No such file or directory" "$run" /no/such/program
refuses "/no/such/plugin.so: No such file or directory" "$run" -p /no/such/plugin.so true
refuses "cannot read the truth log '/no/such/log'" "$run" --truth /no/such/log
refuses "is not a truth log" "$run" --truth "$0"

# Options become environment; what was set before stays in the lists.
LD_PRELOAD=/before.so SOFTGPU_PLUGINS=/first.so "$run" -n 3 -d 100 --copy 5:6 --seed 7 --width 2 --read-ahead \
    --delay 9 --reorder 4 --counters 'a read=1' --counters-fault absent --debug -p "$plugin" -t log env >"$work/env" 2>"$work/err"
for want in SOFTGPU_DEVICES=3 SOFTGPU_DURATION=100 SOFTGPU_COPY=5:6 SOFTGPU_SEED=7 SOFTGPU_WIDTH=2 \
    SOFTGPU_READ_AHEAD=1 SOFTGPU_DELAY=9 SOFTGPU_REORDER=4 SOFTGPU_DEBUG=1 SOFTGPU_TRUTH=log \
    "SOFTGPU_COUNTERS=a read=1" SOFTGPU_COUNTERS_FAULT=absent \
    "SOFTGPU_PLUGINS=/first.so:$(realpath "$plugin")"; do
    grep -qxF "$want" "$work/env" || complain "no $want in the environment"
done
grep -q '^LD_PRELOAD=/before.so:/.*/softgpu/libsoftgpu.so$' "$work/env" || complain "LD_PRELOAD: $(grep LD_ "$work/env")"
"$run" sh -c 'exit 7'
[ $? = 7 ] || complain "the program's exit status is lost"

# Every kernel that the demo launched was executed, and the log is whole.
"$run" -p "$plugin" -t "$work/log" "$demo" --tokens 12 --layers 3 >"$work/demo" || complain "the demo fails"
grep -q "matches the host" "$work/demo" || complain "the demo: $(cat "$work/demo")"
launched=$(sed -n 's/^launched \([0-9]*\) kernels.*/\1/p' "$work/demo")
"$run" --truth "$work/log" >"$work/text" || complain "the log cannot be printed"
executed=$(grep -c '^kernel .* _ZN6decode' "$work/text")
[ "$launched" = "$executed" ] || complain "launched $launched kernels, executed $executed"
[ "$launched" = $((13 * 39 + 13)) ] || complain "a step of 3 layers has 39 kernels, one more picks: $launched"

head -c 6000 "$work/log" >"$work/cut"
refuses "the file is cut off" "$run" --truth "$work/cut"

# Without its plugin the demo must find the difference, and name each of its 12 kernels once.
if "$run" "$demo" --tokens 2 --layers 1 >"$work/out" 2>"$work/err"; then
    complain "the demo should differ from the host without its plugin"
fi
[ "$(grep -c 'has no host implementation' "$work/err")" = 12 ] || complain "$(cat "$work/err")"
exit $failed
