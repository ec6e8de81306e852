#!/usr/bin/env bash
# rtl bench: wrong options and what it cannot work with, a sentence each.
source "$(dirname "$0")/../common/wrong.sh"
source "$(dirname "$0")/bench_lib.sh"

wrong 2 "'fast'" "lite, standard, hip or full" -- "$rtl" bench --gpu soft -t fast
wrong 2 "'other'" "{program}" -- "$rtl" bench --gpu soft -t 'name=other,command=prof'
wrong 2 "'full'" "two tools" -- "$rtl" bench --gpu soft -t full -t full
wrong 2 "'idle'" "eager" -- "$rtl" bench --gpu soft -w eager,idle
wrong 2 "'eager'" "twice" -- "$rtl" bench --gpu soft -w eager,eager
wrong 2 "'speed'" "overhead" -- "$rtl" bench --gpu soft --gate speed=3
wrong 2 "'x'" "overhead=3%" -- "$rtl" bench --gpu soft --gate overhead=x
wrong 2 "'0'" "--rounds" -- "$rtl" bench --gpu soft -r 0
wrong 2 "'many'" "--kernels" -- "$rtl" bench --gpu soft -k many
wrong 2 "'0'" "--kernels" -- "$rtl" bench --gpu soft -k 0
wrong 2 "--workload" "eager" -- "$rtl" bench --gpu soft -w ''
wrong 2 "none" "always" -- "$rtl" bench --gpu soft -t none
wrong 2 "'soon'" "--limit" -- "$rtl" bench --gpu soft --limit soon
wrong 2 "'hard'" "auto, soft or real" -- "$rtl" bench --gpu hard
wrong 2 "no-such" -- "$rtl" bench --gpu soft -- no-such
wrong 2 "--workload" "'true'" -- "$rtl" bench --gpu soft -w eager -- true
wrong 2 "without a tool" "status 3" "some reason" -- "$rtl" bench -q --gpu soft -t full -- sh -c 'echo some reason >&2; exit 3'
wrong 2 "nowhere/x.html" -- "$rtl" bench -q --gpu soft -t 'name=env,env=A=B' --html nowhere/x.html -- touch measured
wrong 2 "'$PWD' could not be written" -- "$rtl" bench -q --gpu soft -t 'name=env,env=A=B' --html "$PWD" -- touch measured
[ ! -e measured ] || fail "it is measured before it is known that the page cannot be written"
if [ ! -e /dev/kfd ]; then
    wrong 2 "/dev/kfd" "--gpu soft" -- "$rtl" bench -t full -- true
fi
mkdir -p lone/bin lone/lib
cp "$rtl" lone/bin/rtl
wrong 2 "software GPU" -- lone/bin/rtl bench --gpu soft
ln -s "$build/lib/softgpu" lone/lib/softgpu
wrong 2 "rtl-bench-work" -- lone/bin/rtl bench --gpu soft
