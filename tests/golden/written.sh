#!/usr/bin/env bash
# written.sh BUILD: what make.c puts in, written by the writer of today, is read by the book as `rtl sql` reads it, and is what the newest
# golden trace has.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
rtl=$1/bin/rtl
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch"

fail() {
    echo "written.sh: $*" >&2
    exit 1
}

"$1/tests/bin/golden_make" new.db || fail "it cannot be written"
python3 "$here/read_trace.py" new.db "$rtl" || fail "it is read in two ways"
# Rows that name this machine are the golden trace's host's, as make.sh has it.
python3 "$here/read_trace.py" new.db | sed "s/\"host\": \"$(uname -n)\"/\"host\": \"golden-host\"/g
    s/\"boot\": \"$(cat /proc/sys/kernel/random/boot_id)\"/\"boot\": \"00000000-0000-4000-8000-000000000000\"/g" >new.json
python3 "$here/read_trace.py" "$(find "$here" -name 'trace-1.*.sql' | sort -V | tail -n 1)" >golden.json
cmp -s new.json golden.json || fail "the writer of today says something else: $(diff golden.json new.json | head -n 5)"
