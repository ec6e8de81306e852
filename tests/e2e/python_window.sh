#!/usr/bin/env bash
# python_window.sh BUILD PYTHON: examples/window.py records ten steps of each worker and nothing else, and examples/table.py tells
# them.
source "$(dirname "$0")/lib.sh"
python=$1
unset RTL_QUEUE SOFTGPU_PLUGINS
export PYTHONPATH=$here/../../python PYTHONDONTWRITEBYTECODE=1 RTL_READER=$build/lib/librtltrace.so.0
"$python" -c 'import ctypes, ctypes.util, sys; sys.exit(not ctypes.util.find_library("amdhip64"))' || exit 77
LD_PRELOAD=$soft "$python" "$here/python_window.py" >alone.out 2>alone.err || fail "without RTL the program ended with status $?"
RTL_START=off "$rtl" trace -q --gpu soft -o t.db -- "$python" "$here/python_window.py" >run.out 2>run.err ||
    fail "the program ended with status $?"
# Steps 20 to 29 have 21 to 30 fills.
equal "kernels of each worker" "$(ask t.db "SELECT count(*) FROM kernels GROUP BY process" | tr '\n' ' ')" "255 255 "
equal "steps" "$(ask t.db "SELECT count(*), count(DISTINCT process), min(name), max(name) FROM ranges")" "20|2|execute_model 20|execute_model 29"
equal "kernels of each step" "$(ask t.db "SELECT group_concat(DISTINCT n) FROM (SELECT count(*) AS n FROM kernels k JOIN ranges r
    ON r.process = k.process AND r.id = k.range GROUP BY r.process, r.id ORDER BY r.process, r.start)")" "$(seq -s , 21 30)"
"$python" "$here/../../examples/table.py" t.db >table.out 2>table.err || fail "examples/table.py ended with status $?"
equal "what the table counts" "$(awk '$1 == "eager" { sum += $2 } END { print sum }' table.out)" 510
