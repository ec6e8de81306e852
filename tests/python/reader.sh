#!/usr/bin/env bash
# reader.sh BUILD PYTHON TRACE.sql [OPTION]: the Python module against SQL over a trace of tests/golden (reader.py).
source "$(dirname "$0")/../tools/lib.sh"
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
python=$2 trace=$3
shift 3
sqlite3 t.db <"$here/../golden/$trace"
PYTHONPATH=$here/../../python RTL_READER=$build/lib/librtltrace.so.0 PYTHONDONTWRITEBYTECODE=1 \
    "$python" "$here/reader.py" "$rtl" t.db "$@" >said 2>errors || fail "the module does not read what SQL does"
grep -q '^[1-9]' said || fail "there is nothing to compare: $(cat said)"
