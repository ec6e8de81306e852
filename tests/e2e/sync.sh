#!/usr/bin/env bash
# sync.sh BUILD: rtl trace --sync on hosts that are namespaces of this machine, with networks, names, boot_ids and clocks of their
# own, of which some are off and drift by what is planted: rtl merge finds that, within the error that it says. Needs root; else
# skipped, 77.
[ "${SYNC_OWN:-}" ] || SYNC_OWN=1 exec unshare -nm "$0" "$@" || exit 77
source "$(dirname "$0")/lib.sh"
source "$here/hosts.sh"

base=$(/usr/bin/python3 -c 'import time; print(time.clock_gettime_ns(time.CLOCK_BOOTTIME))')

# record N FILE CLOCK SYNC SECONDS [COMMAND…]: a trace on host N; CLOCK is "LATER DRIFT WRONG" of sync_clock.c; COMMAND starts it.
record() {
    in_host "$1" "${@:6}" env LD_PRELOAD="$build/tests/lib/libe2e_sync_clock.so" SYNC_CLOCK="$base $3" timeout 60 \
        "$rtl" trace --gpu soft -q -f -o "$2" --sync "$4" -- bash -c "$bin/flood 20 && sleep $5 && $bin/flood 20" >"$2.out" 2>"$2.err"
}

true="0 0 0"                            # the host that is up longest: the new trace's clock
fast="1000000000000 50000 5000000"      # 50 ppm, its time of day 5 ms ahead
slow="2000000000000 -30000 -20000000"
host 1 head
host 2 node2 head
host 3 node3 head
# Everybody can bind to any address there, which does not make it that of the host.
for number in 2 3; do
    in_host "$number" bash -c 'echo 1 >/proc/sys/net/ipv4/ip_nonlocal_bind'
done
# A broadcast address is no host's.
in_host 2 bash -c 'ip addr add 10.78.2.2/24 brd + dev eth0'
equal "status with a broadcast address" "$(in_host 2 "$rtl" trace --gpu soft -q -o none.db --sync 10.78.2.255 -- true 2>broadcast.err || echo $?)" 2
grep -q "^rtl: '10.78.2.255' is no host for --sync" broadcast.err || fail "what rtl trace says of a broadcast address: $(cat broadcast.err)"

# The host that is asked has the true clock, a clock that drifts, or is none of those that are compared. It is named by its name,
# which is on itself that of its loopback. Two ranks of it share the port.
record 1 direct1.db "$true" head 1 &
record 1 direct1b.db "$true" head 1 &
record 2 direct2.db "$fast" head 2 &
record 3 direct3.db "$slow" head:24615 2 &
record 1 third1.db "$fast" 10.77.1.2:7 2 &
record 2 third2.db "$true" 10.77.1.2:7 2 &
record 3 third3.db "$slow" 10.77.1.2:7 2 &
# In a time namespace, whose clocks are others than the machine's, which rtl knows.
within=(unshare -T --boottime 100000 --monotonic 5000)
if in_host 2 "${within[@]}" true 2>/dev/null; then
    record 2 within2.db "$true" head 1 "${within[@]}" &
fi
# As direct2.db's host, and compared with nobody: its kernels are some seconds after the last exchange.
in_host 2 env LD_PRELOAD="$build/tests/lib/libe2e_sync_clock.so" SYNC_CLOCK="$base $fast" timeout 60 \
    "$rtl" trace --gpu soft -q -f -o late2.db -- bash -c "sleep 6 && $bin/flood 20 && $bin/flood 20" >late2.db.out 2>late2.db.err &
# Who answers comes later than those who ask.
record 2 waited2.db "$fast" 10.77.3.2:11 5 &
(sleep 3 && record 3 waited3.db "$slow" 10.77.3.2:11 2) &
# Nobody there; no such host; too many do not matter.
record 2 silent.db "$fast" 10.77.3.2:9 0 &
record 3 unknown.db "$slow" no-such-host.invalid 0 &
for job in $(jobs -p); do
    is_host "$job" || wait "$job" || fail "rtl trace ended with status $?"
done
for file in direct1 direct1b direct2 direct3 third1 third2 third3; do
    equal "what rtl trace says of $file.db" "$(cat $file.db.err)" ""
done
first="--sync 10.77.3.2: no answer from port 11 there so far: "
then="--sync 10.77.3.2: answers come from port 11 there from [0-9.]* s after the begin on: the clocks of the hosts are compared since then"
ask waited2.db "SELECT text FROM notes WHERE text LIKE '--sync%' ORDER BY id" >waited2.notes
for told in waited2.notes waited2.db.err; do
    equal "lines of $told" "$(sed "1s/^\(rtl: \)\?$first.*/1/; 2s/^\(rtl: \)\?$then\$/2/" "$told" | xargs)" "1 2"
done
[ "$(ask waited2.db 'SELECT count(*) FROM clock_exchanges')" -ge 2 ] || fail "no exchanges with who came later"
silent="rtl: --sync 10.77.3.2: no answer from port 9 there: the clocks of the hosts are not compared; an rtl trace with the same --sync answers on that host while it runs"
equal "what rtl trace says where nobody answers" "$(sed 's/ so far:/:/' silent.db.err)" "$silent"
equal "its note" "$(ask silent.db "SELECT count(*) FROM notes WHERE replace(text, ' so far:', ':') = '${silent#rtl: }'")" 1
grep -q '^rtl: --sync no-such-host.invalid: no address of that host is known, so that the clocks of the hosts are not compared: ' unknown.db.err ||
    fail "what rtl trace says of an unknown host"
for file in silent unknown direct1 direct1b; do
    equal "exchanges of $file.db" "$(ask $file.db 'SELECT count(*) FROM clock_exchanges')" 0
done
/usr/bin/python3 "$here/sync.py" "$rtl" "$base" "$true" "$fast" "$slow" || fail "the clocks are not those that were planted"
