#!/usr/bin/env bash
# extremes.sh BUILD NODE CHROMIUM: pages of golden traces, whose times lie at the ends of the clock, are drawn to their ends.
source "$(dirname "$0")/../tools/lib.sh"
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
for minor in 2 5; do
    sqlite3 t.db <"$here/../golden/trace-1.$minor.sql"
    "$rtl" export t.db --to html -o page.html >export.out 2>export.err || fail "rtl export of 1.$minor ended with status $?"
    grep -q 'end more than 104 days after the page begins' export.err || fail "it is not said that ends are moved"
    "$2" "$here/extremes.mjs" "$build/viewer" "$3" page.html >page.out 2>page.err || {
        cat page.err >&2
        fail "the page of 1.$minor is not drawn"
    }
    rm -f t.db page.html
done
