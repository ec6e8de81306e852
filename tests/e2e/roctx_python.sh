#!/usr/bin/env bash
# roctx_python.sh BUILD MODE LIBRARY: under rtl trace a Python program finds roctx by its name, without LD_LIBRARY_PATH, and
# its ranges are in the trace with what ran in them.
source "$(dirname "$0")/lib.sh"
mode=$1 library=$2 steps=7
unset RTL_QUEUE SOFTGPU_PLUGINS
/usr/bin/python3 -c 'import ctypes, ctypes.util, sys; sys.exit(not ctypes.util.find_library("amdhip64"))' || exit 77
! /usr/bin/python3 -c "import ctypes; ctypes.CDLL('$library')" 2>alone.err || { echo "this machine has a $library of its own: skipped" && exit 77; }
"$rtl" trace -q -m "$mode" --gpu soft -o t.db -- /usr/bin/python3 "$here/roctx_python.py" "$library" $steps >run.out 2>run.err ||
    fail "the program ended with status $?"
nothing_said run.err
equal "ranges" "$(ask t.db "SELECT count(*) FROM ranges WHERE name = 'python step' AND end > start AND depth = 0")" $steps
[ "$mode" = lite ] ||
    equal "kernels of each" "$(ask t.db "SELECT group_concat(n) FROM (SELECT count(*) AS n FROM kernels k JOIN ranges r
        ON r.process = k.process AND r.id = k.range GROUP BY r.id ORDER BY r.start)")" "$(seq -s , $steps)"
