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
told "trace.kernels(['start'], where=lambda k: True)" "ValueError: a condition has a boolean for each row: this one is True"
told "trace.kernels(['start'], where=lambda k: [True])" "ValueError: a condition has a boolean for each of $("$rtl" sql t.db 'SELECT count(*) FROM kernels') rows: this one is $(
    "$python" -c 'import rtl; print("array([ True])" if rtl._columns.numpy else [True])')"
told "trace.kernels(start=2**64)" "ValueError: start is 18446744073709551616: it is a number from 0 to 18446744073709551615"
told "trace.launch(2**32 + 1, 1)" "ValueError: graph is 4294967297: it is a number from 0 to 4294967295"
told "import copy; copy.copy(trace)" "TypeError: a Trace cannot be copied: open its path again"
told "rtl.open('t.db\0')" "ValueError: the path 't.db\\x00' has a null byte in it"
told "rtl.range(5)" "TypeError: the text of a range or mark is a str, not int"
told "rtl.mark(5)" "TypeError: the text of a range or mark is a str, not int"
told "rtl.mark(rtl.Trace)" "TypeError: Trace is a class: mark its methods"
"$python" - <<'END' >same.out 2>same.err || fail "what may be done is refused"
import copy, pickle, rtl
trace = rtl.open("t.db")
kernels = trace.kernels(["name", "start", "name"])
assert kernels.keys() == ["name", "start"]
for other in (copy.copy(kernels), copy.deepcopy(kernels), pickle.loads(pickle.dumps(kernels))):
    assert list(other.start) == list(kernels.start) and other.names == kernels.names
assert len(trace.kernels(name for name in ["start"])) == len(kernels)
assert trace.summary(["name", "graph"]) == trace.summary("name, graph")

class Worker:
    @rtl.mark
    @staticmethod
    def one(number):
        return number

    @rtl.range("two")
    @classmethod
    def two(cls, number):
        return number

assert (Worker().one(1), Worker.two(2)) == (1, 2)
END
told "trace.close(); trace.graphs" "ValueError: t.db is closed"
# A damaged chunk is told, and names the file.
sqlite3 t.db "UPDATE kernel_chunks SET data = zeroblob(length(data))"
! "$python" -c 'import rtl; rtl.open("t.db").kernels()' >said.out 2>said.err || fail "a damaged trace is read"
grep -q '^rtl.Error: .*t\.db' said.err || fail "a damaged trace is not told by its name: $(tail -n 1 said.err)"
