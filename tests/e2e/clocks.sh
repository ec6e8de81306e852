#!/usr/bin/env bash
# clocks.sh BUILD: hosts whose clocks are apart, and drift, are put together by the collectives that all ranks ran, within the
# error that rtl merge says; and where collectives tell nothing, by times of day, which it says as well.
source "$(dirname "$0")/lib.sh"
# Broadcasts wait for nobody, so they are no steps of rtl ranks.
"$bin/ranks_made" one.db 7 1 0 4 50 0 0
"$rtl" ranks --json --list --by collectives one.db >ranks.json || fail "no ranks"
equal "steps, all-reduces alone" "$(jq .steps ranks.json)" 50
equal "who came last" "$(jq -c '[.each_step[].slowest]' ranks.json)" "$("$rtl" sql --json one.db "SELECT process, packet, start FROM kernels WHERE name LIKE '%AllReduce%'" |
    jq -c '[group_by(.packet)[] | max_by(.start).process]')"
/usr/bin/python3 "$here/clocks.py" "$rtl" "$bin/ranks_made" || fail "the clocks are not those that were planted"

# refused SENTENCE ARGUMENT...: status 2, one sentence that says so, and no trace is left.
refused() {
    local status=0
    rm -f new.db
    "$rtl" merge "${@:2}" >refused.out 2>refused.err || status=$?
    equal "status of ${*:2}" $status 2
    equal "what ${*:2} says" "$(cat refused.err)" "rtl: $1"
    [ ! -e new.db ] || fail "$*: something is left"
}
refused "--align is auto, exchanges, collectives or time-of-day, not 'ntp'" --align ntp new.db a.db b.db
refused "--align is given twice" --align auto --align auto new.db a.db b.db
refused "fewer.db cannot be aligned by collectives: the hosts ran different numbers of collectives" --align collectives new.db a.db fewer.db
