#!/usr/bin/env bash
# rtl bench: wrong options and what it cannot work with, a sentence each.
source "$(dirname "$0")/bench_lib.sh"

# wrong STATUS PATTERN... -- OPTION...: rtl bench ends with the status, prints nothing, and says one line that matches all patterns.
wrong() {
    local wanted=$1 patterns=() pattern status=0
    shift
    while [ "$1" != -- ]; do
        patterns+=("$1")
        shift
    done
    shift
    "$rtl" bench "$@" >wrong.out 2>wrong.err || status=$?
    equal "status of 'rtl bench $*'" "$status" "$wanted"
    [ ! -s wrong.out ] || fail "'rtl bench $*' wrote to stdout"
    equal "lines of 'rtl bench $*'" "$(wc -l <wrong.err)" 1
    for pattern in "${patterns[@]}"; do
        grep -q -F -e "$pattern" wrong.err || fail "the sentence of 'rtl bench $*' does not say '$pattern'"
    done
}

wrong 2 "'fast'" "lite, standard, hip or full" -- --gpu soft -t fast
wrong 2 "'other'" "{program}" -- --gpu soft -t 'name=other,command=prof'
wrong 2 "'full'" "two tools" -- --gpu soft -t full -t full
wrong 2 "'idle'" "eager" -- --gpu soft -w eager,idle
wrong 2 "'eager'" "twice" -- --gpu soft -w eager,eager
wrong 2 "'speed'" "overhead" -- --gpu soft --gate speed=3
wrong 2 "'x'" "overhead=3%" -- --gpu soft --gate overhead=x
wrong 2 "'0'" "--rounds" -- --gpu soft -r 0
wrong 2 "'many'" "--kernels" -- --gpu soft -k many
wrong 2 "'0'" "--kernels" -- --gpu soft -k 0
wrong 2 "--workload" "eager" -- --gpu soft -w ''
wrong 2 "none" "always" -- --gpu soft -t none
wrong 2 "'soon'" "--limit" -- --gpu soft --limit soon
wrong 2 "'hard'" "auto, soft or real" -- --gpu hard
wrong 2 "no-such" -- --gpu soft -- no-such
wrong 2 "--workload" "'true'" -- --gpu soft -w eager -- true
wrong 2 "without a tool" "status 3" "some reason" -- -q --gpu soft -t full -- sh -c 'echo some reason >&2; exit 3'
wrong 2 "nowhere/x.html" -- -q --gpu soft -t 'name=env,env=A=B' --html nowhere/x.html -- touch measured
wrong 2 "'$PWD' could not be written" -- -q --gpu soft -t 'name=env,env=A=B' --html "$PWD" -- touch measured
[ ! -e measured ] || fail "it is measured before it is known that the page cannot be written"
if [ ! -e /dev/kfd ]; then
    wrong 2 "/dev/kfd" "--gpu soft" -- -t full -- true
fi
mkdir -p lone/bin lone/lib
cp "$rtl" lone/bin/rtl
rtl=lone/bin/rtl wrong 2 "software GPU" -- --gpu soft
ln -s "$build/lib/softgpu" lone/lib/softgpu
rtl=lone/bin/rtl wrong 2 "rtl-bench-work" -- --gpu soft
