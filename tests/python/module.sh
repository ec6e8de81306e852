#!/usr/bin/env bash
# module.sh BUILD PYTHON: the examples in the module's documentation hold, and bad input is told in one sentence.
source "$(dirname "$0")/../tools/lib.sh"
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
python=$2
export PYTHONPATH=$here/../../python PYTHONDONTWRITEBYTECODE=1 RTL_READER=$build/lib/librtltrace.so.0
"$python" -c 'import doctest, rtl; print(*doctest.testmod(rtl))' >doctest.out || fail "doctest ended with status $?"
grep -q '^TestResults(failed=0, attempted=[1-9]' doctest.out || grep -q '^0 [1-9]' doctest.out || fail "the examples do not hold"

sqlite3 t.db <"$here/../golden/trace-1.7.sql"
# told STATEMENT WORDS: what Python says last.
told() {
    ! "$python" -c "import rtl; trace = rtl.open('t.db'); $1" >said.out 2>said.err || fail "$1: it is not refused"
    equal "$1" "$(tail -n 1 said.err)" "$2"
}
told "rtl.open('nosuch.db')" "rtl.Error: cannot open the trace nosuch.db: No such file or directory"
told "rtl.open('/etc/passwd')" "rtl.Error: cannot open the trace /etc/passwd: it is not an RTL trace"
told "trace.kernels(['nosuch']).start" "ValueError: kernels have no column 'nosuch'; there are $(
    "$python" -c 'import rtl; print(", ".join(rtl._columns.ALL))')"
told "trace.kernels(['start']).nosuch" "AttributeError: there is no column 'nosuch'; there are start"
told "trace.summary('colour')" "ValueError: kernels are not added up by 'colour'; there are name, symbol, shape, process, device, queue, graph, generation, node"
told "trace.close(); trace.graphs" "ValueError: t.db is closed"
# A damaged chunk is told, and names the file.
sqlite3 t.db "UPDATE kernel_chunks SET data = zeroblob(length(data))"
! "$python" -c 'import rtl; rtl.open("t.db").kernels()' >said.out 2>said.err || fail "a damaged trace is read"
grep -q '^rtl.Error: .*t\.db' said.err || fail "a damaged trace is not told by its name: $(tail -n 1 said.err)"
