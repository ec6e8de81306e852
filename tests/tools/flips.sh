#!/usr/bin/env bash
# flips.sh BUILD: one bit of a trace is another, several hundred times over traces of each kind. What rtl check then calls complete has all that
# was recorded, to the last row. Also: what has no digests (older versions, a killed recorder) is not called damaged, nor is what a user adds.
source "$(dirname "$0")/../e2e/lib.sh"
skip_without_counters
unset RTL_QUEUE RTL_METRICS RTL_COUNTING RTL_PASS
export SOFTGPU_DURATION=300

# traced FILE ARGUMENT...: a trace, which is complete and has digests.
traced() {
    local file=$1
    shift
    "$rtl" trace --gpu soft -q -o "$file" "$@" >traced.out 2>traced.err || fail "the program ended with status $? in $file"
    whole "$file" true
}

# whole FILE DIGESTS: it is complete.
whole() {
    "$rtl" check --json "$1" >check.out 2>check.err || fail "rtl check says no of $1"
    equal "digests and damage of $1" "$(jq -c '[.digests, .damage]' check.out)" "[$2,[]]"
}

traced graphs.db -m full -- "$bin/hsa_storm" --dispatches 300 --batch 16 --threads 2 --queues 2
traced copies.db -m full -- "$bin/hsa_copies" --threads 2 --rounds 5
traced calls.db -m full -- "$bin/exec_again" 1
RANGES_EXPECTED=$scratch/expected traced counters.db --metrics waves,l2_hit --counting kernel -- "$bin/ranges" nest
"$rtl" merge merged.db graphs.db counters.db >merge.out || fail "rtl merge ended with status $?"
whole merged.db true
"$rtl" export graphs.db -F rpd -o graphs.rpd && "$rtl" import graphs.rpd -o imported.db >import.out || fail "rtl import ended with status $?"
"$rtl" check --json imported.db >check.out || true
equal "digests and damage of an import" "$(jq -c '[.digests, .damage]' check.out)" "[true,[]]"

# The tables that each kind is here for have rows.
for what in graphs:graph_node_rows graphs:clock_points graphs:launch_chunks copies:copies calls:api_chunks calls:streams counters:ranges counters:sample_chunks; do
    [ "$(sqlite3 "${what%:*}.db" "SELECT count(*) FROM ${what#*:}")" -gt 0 ] || fail "${what%:*}.db has no ${what#*:}"
done
flips=120
[ -z "${RTL_TEST_BRIEF:-}" ] || flips=30
python3 "$here/../tools/flips.py" "$rtl" $flips graphs.db copies.db calls.db counters.db merged.db >flips.out 2>flips.err || fail "a flip goes unseen"

# Rows that were changed are told, by the name of their table; a merge does not seal them.
cp graphs.db edited.db
sqlite3 edited.db "UPDATE clock_points SET system = system + 1 WHERE ticks = (SELECT min(ticks) FROM clock_points)"
! "$rtl" check edited.db >check.out || fail "a row that was changed is complete"
grep -q '^DAMAGED: the table clock_points does not hold what was recorded; 300 of 300 kernels' check.out || fail "the table is not named"
! "$rtl" merge out.db edited.db copies.db >merge.out 2>merge.err || fail "a damaged trace is merged"
grep -q '^rtl: cannot merge edited.db: the table clock_points does not hold what was recorded' merge.err || fail "the merge does not say why"
[ ! -e out.db ] || fail "a merge that was refused left a file"

# What users add, and what SQLite does with a file, is none of it.
cp graphs.db mine.db
sqlite3 mine.db "CREATE TABLE mine(a); INSERT INTO mine VALUES(1); CREATE VIEW seen AS SELECT * FROM notes; CREATE INDEX own ON symbols(name); ANALYZE; VACUUM"
whole mine.db true

# Without digests it is as good as it was.
cp graphs.db older.db
sqlite3 older.db "DROP TABLE digests; DELETE FROM meta WHERE key = 'digests'"
whole older.db false
# But not where only one of the two is gone, or no row says what others refer to.
for sql in "DROP TABLE digests" "DELETE FROM digests" "DELETE FROM meta WHERE key = 'digests'" "DELETE FROM digests WHERE name = 'notes'"; do
    cp graphs.db part.db
    sqlite3 part.db "$sql"
    ! "$rtl" check part.db >check.out || fail "'$sql' is not seen"
    grep -q '^DAMAGED: ' check.out || fail "'$sql' is not told"
done
for sql in "UPDATE clock_points SET process = 9" "UPDATE agents SET type = 'GPV'" "UPDATE queues SET end = start - 2000000"; do
    cp older.db part.db
    sqlite3 part.db "$sql"
    ! "$rtl" check part.db >check.out || fail "'$sql' is not seen without digests"
    grep -q '^DAMAGED: the table' check.out || fail "'$sql' is not told without digests"
done

# A recorder that was killed has written none.
"$rtl" trace --gpu soft -q -o killed.db -- bash -c '"$0" --dispatches 300 --batch 16 >storm.out; sleep 1.5; kill -KILL $PPID' "$bin/hsa_storm" 2>killed.err && fail "the recorder lives"
"$rtl" check --json killed.db >check.out && fail "a trace of a killed recorder is complete"
equal "a killed recorder" "$(jq -c '[.digests, .damage, .finished, .total.stored]' check.out)" "[false,[],false,300]"
