#!/usr/bin/env bash
# python_module.sh BUILD PYTHON: ranges, marks, start and stop of the Python module are in the trace, with what ran in them; without
# RTL the program runs as it does with it.
source "$(dirname "$0")/lib.sh"
python=$1 steps=5
unset RTL_QUEUE SOFTGPU_PLUGINS
export PYTHONPATH=$here/../../python PYTHONDONTWRITEBYTECODE=1 RTL_READER=$build/lib/librtltrace.so.0
"$python" -c 'import ctypes, ctypes.util, sys; sys.exit(not ctypes.util.find_library("amdhip64"))' || exit 77
LD_PRELOAD=$soft "$python" "$here/python_module.py" $steps >alone.out 2>alone.err || fail "without RTL the program ended with status $?"
equal "what it is told without RTL" "$(cat alone.out)" "False False False"
# With the preload the functions are in the global scope, without it they are in a tool's.
for preload in on off; do
    RTL_PRELOAD=$preload "$rtl" trace -q -f --gpu soft -o t.db -- "$python" "$here/python_module.py" $steps >run.out 2>run.err ||
        fail "the program ended with status $?"
    nothing_said run.err
    equal "what it is told" "$(cat run.out)" "True True True"
    # Without the preload a range finds librtl.so only once start or stop has looked for it through the process's libraries.
    [ "$preload" = on ] || { equal "ranges behind the first stop" "$(ask t.db "SELECT group_concat(name) FROM ranges")" "last,fails" && continue; }
    equal "ranges" "$(ask t.db "SELECT name, count(*) FROM ranges WHERE kind = 'push' GROUP BY name ORDER BY name" | tr '\n' ' ')" \
        "all of it|1 fails|1 last|1 step|$steps "
    equal "marks" "$(ask t.db "SELECT group_concat(name) FROM ranges WHERE kind = 'mark'")" "before 1,before 2,before 3,before 4,before 5"
    equal "kernels of each step" "$(ask t.db "SELECT group_concat(n) FROM (SELECT count(*) AS n FROM kernels k JOIN ranges r
        ON r.process = k.process AND r.id = k.range WHERE r.name = 'step' GROUP BY r.id ORDER BY r.start)")" "$(seq -s , $steps)"
    equal "kernels of the last range" "$(ask t.db "SELECT count(*) FROM kernels k JOIN ranges r ON r.id = k.range WHERE r.name = 'last'")" 1
    equal "kernels" "$(ask t.db "SELECT count(*) FROM kernels")" $((steps * (steps + 1) / 2 + 1))
    equal "kernels left out" "$(ask t.db "SELECT sum(skipped) FROM ledger WHERE reason IS NULL OR reason = 'pool'" | head -1)" 1
    # The module reads what it has recorded.
    "$python" -c 'import rtl; t = rtl.open("t.db"); print(sum(r.skipped for r in t.ledger), len(t.kernels(["id"])), [r.name for r in t.ranges()][-1])' \
        >read.out || fail "the module cannot read it"
    equal "what the module reads" "$(cat read.out)" "1 $((steps * (steps + 1) / 2 + 1)) fails"
done
