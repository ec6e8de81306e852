#!/usr/bin/env bash
# contract.sh BUILD BACKEND CASE [PLUGIN]: what PrivateUse1TracingApi.h promises (contract.c), by OpenReg, and by RTL under
# a HIP program: preloaded (rtl), loaded by the HSA runtime alone (rtl-alone), or under rtl trace (rtl-traced).
source "$(dirname "$0")/../e2e/lib.sh"
backend=$1 case=$2
unset RTL_QUEUE SOFTGPU_PLUGINS
export HOME=$scratch KINETO_PLUGIN_PATH=$build/lib/librtl.so
[ "$backend" = openreg ] || export SOFTGPU_PLUGINS=$3
case $backend in
openreg) program=(env KINETO_PLUGIN_PATH="$build/lib/kineto/libopenreg.so" "$bin/contract_openreg") ;;
rtl) program=(env LD_PRELOAD="$build/lib/librtl.so:$soft" RTL_KINETO=1 "$bin/contract_hip") ;;
rtl-alone) program=(env LD_PRELOAD="$soft" "$bin/contract_hip") ;;
rtl-traced) program=("$rtl" trace -q --gpu soft -o t.db -- "$bin/contract_hip") ;;
esac
"${program[@]}" "$case" >run.out 2>run.err || fail "the program ended with status $?"
nothing_said run.err

# The trace is that of a program that pushes no ids.
if [ "$backend" = rtl-traced ]; then
    equal "kernels" "$(ask t.db "SELECT count(*) FROM kernels WHERE mangled LIKE '\_Z9hip%' ESCAPE '\'")" 6
    equal "kernels of no call" "$(ask t.db "SELECT count(*) FROM kernels WHERE correlation IS NULL OR
        correlation NOT IN (SELECT correlation FROM api)")" 0
fi
