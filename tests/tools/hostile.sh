#!/usr/bin/env bash
# hostile.sh BUILD SOURCE: traces, programs, files and arguments whose names are made to command a terminal or a spreadsheet do nothing, in whatever
# command shows them.
source "$(dirname "$0")/lib.sh"
source_folder=$2
SOFTGPU_PLUGINS=$build/tests/lib/e2e_plugin.so "$rtl" trace -q -m full --gpu soft -o storm.db -- "$build/tests/bin/hsa_storm" --dispatches 300 \
    --batch 16 --threads 2 --queues 2 >trace.out 2>trace.err || fail "rtl trace ended with status $?"
sqlite3 graphs.db <"$source_folder/tests/golden/trace-1.4.sql"
python3 "$(dirname "$0")/hostile.py" "$rtl" storm.db graphs.db >hostile.out 2>hostile.err || fail "some output is not plain"
