#!/usr/bin/env bash
# golden.sh BUILD NAME: the golden trace NAME, read by read_trace.py, which knows docs/format.md and nothing of RTL, is what `rtl sql`
# says it is; and read_trace.py notices when it is not, and when the trace is damaged.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
rtl=$1/bin/rtl
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch"

fail() {
    echo "golden.sh: $*" >&2
    exit 1
}

sqlite3 t.db <"$here/$2"
python3 "$here/read_trace.py" t.db "$rtl" || fail "$2 is read in two ways"
python3 "$here/read_trace.py" "$here/$2" >from_sql.json || fail "$2 cannot be read as text"

# Whole, whether it has digests or not.
"$rtl" check --json t.db >check.json || [ $? = 1 ] || fail "rtl check cannot read it"
grep -q '"damage": \[\]' check.json || fail "rtl check calls it damaged"

# A row that is another: both say so, where there are digests.
cp t.db changed.db
sqlite3 changed.db "UPDATE agents SET node = coalesce(node, 0) + 1"
if [ -n "$(sqlite3 t.db "SELECT 1 FROM sqlite_master WHERE name = 'digests'")" ]; then
    ! python3 "$here/read_trace.py" changed.db >out.json 2>out.err || fail "a wrong digest is not seen"
    grep -q "the digest of agents" out.err || fail "a wrong digest is not told"
    ! "$rtl" check changed.db >check.out || fail "rtl check does not see a wrong digest"
    grep -q '^DAMAGED: the table agents' check.out || fail "rtl check does not tell a wrong digest"
    sqlite3 t.db "DROP TABLE digests; DELETE FROM meta WHERE key = 'digests'"
fi

# Another name in one of two copies: seen.
cat >other_rtl <<END
#!/bin/sh
[ "\$1 \$2" = "sql --json" ] && shift 3 && exec "$rtl" sql --json "$scratch/other.db" "\$@"
END
chmod +x other_rtl
cp t.db other.db
sqlite3 other.db "UPDATE symbols SET name = 'another' WHERE symbol = 1"
! python3 "$here/read_trace.py" t.db "$scratch/other_rtl" >differences || fail "another name is not seen"
grep -q "kernels.name: 'fill', and 'another' in SQL" differences || fail "the difference is not told"

# A bit in one chunk: both say so.
sqlite3 t.db "UPDATE kernel_chunks SET checksum = checksum - 1 WHERE chunk = 2"
! python3 "$here/read_trace.py" t.db >out.json 2>out.err || fail "a wrong checksum is not seen"
grep -q "the checksum of kernel chunk 2" out.err || fail "a wrong checksum is not told"
! "$rtl" sql t.db "SELECT count(*) FROM kernels" >out.txt 2>out.err || fail "rtl reads on"
