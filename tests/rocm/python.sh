#!/usr/bin/env bash
# python.sh: the Python module's Parquet files, read by pyarrow and DuckDB, which forky has: the kernels, calls, ranges, copies and
# launches in them are those that SQL has of the trace, and a sum by name is the same in all three. All of it from the wheel that the
# machine outside has made (build/wheel), which pip installs. Runs in a root of script/rocm. The packages are installed once and stay
# in the root.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
here=$PWD
packages=(python3-pyarrow python3-numpy python3-pandas python3-pip duckdb)

fail() {
    echo "python.sh: $*" >&2
    exit 1
}

source tests/rocm/packages.sh
install_packages "${packages[@]}"
cd "$(mktemp -d)"
/usr/bin/python3 -m pip install -q --no-index --target site /rtl-build/wheel/rtl-*.whl || fail "pip does not install the wheel"
export PYTHONPATH=$PWD/site PYTHONDONTWRITEBYTECODE=1
rtl=$PWD/site/bin/rtl
[ "$("$rtl" --version)" = "$(/rtl-build/bin/rtl --version)" ] || fail "rtl of the wheel says '$("$rtl" --version)'"
for minor in 2 7; do
    sqlite3 t.db <"$here/tests/golden/trace-1.$minor.sql"
    /usr/bin/python3 -m rtl parquet t.db "folder-$minor" >said || fail "1.$minor: status $?"
    /usr/bin/python3 "$here/tests/python/parquet.py" "$rtl" t.db "folder-$minor" || fail "1.$minor is not what SQL says"
    ! /usr/bin/python3 -m rtl parquet t.db "folder-$minor" 2>again || fail "files that are there are replaced"
    grep -q '^rtl: .*kernels.parquet is there already$' again || fail "files that are there: $(cat again)"
    /usr/bin/python3 "$here/tests/python/reader.py" "$rtl" t.db || fail "1.$minor: this suite's Python reads something else"
    rm t.db
done
