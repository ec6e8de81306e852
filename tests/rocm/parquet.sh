#!/usr/bin/env bash
# parquet.sh: the Python module's Parquet files, read by pyarrow and DuckDB, which forky has: the kernels, calls, ranges, copies and
# launches in them are those that SQL has of the trace, and a sum by name is the same in all three. Runs in a root of script/rocm. The
# packages are installed once and stay in the root.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
here=$PWD
packages=(python3-pyarrow python3-numpy python3-pandas duckdb)

fail() {
    echo "parquet.sh: $*" >&2
    exit 1
}

apt() {
    DEBIAN_FRONTEND=noninteractive apt-get -q -y -o Acquire::Retries=10 -o Acquire::http::Timeout=120 "$@" </dev/null
}

if [ "$(dpkg-query -W -f '${db:Status-Status}\n' "${packages[@]}" 2>/dev/null | sort -u)" != installed ]; then
    apt update || true # the packages may be there all the same
    apt --no-install-recommends install "${packages[@]}"
    apt clean
fi
tests/rocm/tested.sh
tested=$here/build/tested
export PYTHONPATH=$here/python RTL_READER=$tested/lib/librtltrace.so.0 PYTHONDONTWRITEBYTECODE=1
cd "$(mktemp -d)"
for minor in 2 7; do
    sqlite3 t.db <"$here/tests/golden/trace-1.$minor.sql"
    /usr/bin/python3 -m rtl parquet t.db "folder-$minor" >said || fail "1.$minor: status $?"
    /usr/bin/python3 "$here/tests/python/parquet.py" "$tested/bin/rtl" t.db "folder-$minor" || fail "1.$minor is not what SQL says"
    ! /usr/bin/python3 -m rtl parquet t.db "folder-$minor" 2>again || fail "files that are there are replaced"
    grep -q '^rtl: .*kernels.parquet is there already$' again || fail "files that are there: $(cat again)"
    /usr/bin/python3 "$here/tests/python/reader.py" "$tested/bin/rtl" t.db || fail "1.$minor: this suite's Python reads something else"
    rm t.db
done
