#!/usr/bin/env bash
# network.sh BUILD: a trace on a file system that other hosts see, which is this machine's by another name (mounts.c): recorded without a
# write-ahead log, read meanwhile, killed, and looked at from another host, which is a namespace. Without root the last part is left out.
source "$(dirname "$0")/lib.sh"
sed 's/ - [^ ]* / - nfs4 /' /proc/self/mountinfo >mounts
network=(env LD_PRELOAD="$build/tests/lib/libe2e_mounts.so" MOUNTS="$scratch/mounts")
storm=("$bin/hsa_storm" --dispatches 30000 --batch 16 --threads 2 --queues 2)

# until_recorded FILE: it has kernels.
until_recorded() {
    for _ in $(seq 300); do
        [ ! -e "$1" ] || [ "$(ask "$1" 'SELECT count(*) FROM kernels' 2>/dev/null || echo 0)" = 0 ] || return 0
        sleep 0.05
    done
    fail "nothing is recorded into $1"
}

# kept FILE: the files beside it.
kept() {
    find . -name "$1-*" -printf '%f\n' | sort | xargs
}

# Recorded, and read meanwhile, without and with a log.
mkfifo go
exec 8<>go
"${network[@]}" "$rtl" trace --gpu soft -q -o net.db -- bash -c "'${storm[0]}' ${storm[*]:1} && read -r <'$scratch/go'" >net.out 2>net.err &
recorder=$!
until_recorded net.db
equal "files beside a trace that is recorded on nfs4" "$(kept net.db)" net.db-journal
"$rtl" check net.db >meanwhile.out || true
grep -q "the recording goes on" meanwhile.out || fail "rtl check does not know that the recording goes on: $(head -n 1 meanwhile.out)"
echo >&8
wait $recorder || fail "rtl trace on nfs4: status $?"
"$rtl" trace --gpu soft -q -o local.db -- bash -c "'${storm[0]}' ${storm[*]:1} && read -r <'$scratch/go'" >local.out 2>local.err &
recorder=$!
until_recorded local.db
equal "files beside one that is recorded here" "$(kept local.db)" "local.db-shm local.db-wal"
echo >&8
wait $recorder || fail "rtl trace: status $?"
for file in net local; do
    equal "files beside $file.db" "$(kept $file.db)" ""
    "$rtl" check $file.db >$file.check || fail "$file.db is not complete: $(head -n 1 $file.check)"
    equal "kernels of $file.db" "$(ask $file.db 'SELECT count(*) FROM kernels')" 30000
    nothing_said $file.err
done
noted="SELECT count(*) FROM notes WHERE text LIKE 'the trace lies on nfs4, which other hosts see: %rollback journal%'"
equal "notes about nfs4" "$(ask net.db "$noted") $(ask local.db "$noted")" "1 0"
"${network[@]}" "$rtl" merge -o merged.db net.db local.db >merge.out 2>merge.err || fail "rtl merge on nfs4"
equal "kernels of a merge" "$(ask merged.db 'SELECT count(*) FROM kernels')" 60000

# A recorder that is killed.
"${network[@]}" "$rtl" trace --gpu soft -q -o killed.db -- bash -c "'${storm[0]}' ${storm[*]:1} && read -r <'$scratch/go'" >killed.out 2>killed.err &
recorder=$!
until_recorded killed.db
kill -KILL $recorder
wait $recorder || true
echo >&8
equal "the integrity of a killed trace" "$(sqlite3 killed.db 'PRAGMA integrity_check')" ok
"$rtl" check killed.db >killed.check && fail "a killed recording is complete"
grep -q "the collector was killed" killed.check || fail "what rtl check says of a killed recording: $(cat killed.check)"

# From another host.
echo 99999999-1111-4111-8111-111111111111 >boot
elsewhere=(unshare -mu bash -c "hostname elsewhere && mount --bind '$scratch/boot' /proc/sys/kernel/random/boot_id && exec \"\$@\"" -)
"${elsewhere[@]}" true 2>/dev/null || { echo "no namespaces here: the other host is left out" && exit 0; }
"${elsewhere[@]}" "$rtl" check killed.db >other.check && fail "a killed recording of another host is complete"
grep -q "host $(uname -n) records it, or has not ended in order" other.check || fail "what another host says of it: $(cat other.check)"
equal "recording, from another host" "$("${elsewhere[@]}" "$rtl" check --json killed.db | jq -c '[.finished, .recording]')" "[false,null]"
sum=$(sha256sum killed.db)
equal "status where another host may record" "$("${elsewhere[@]}" "$rtl" trace --gpu soft -q -f -o killed.db -- true 2>refused.err || echo $?)" 2
grep -q "killed.db: host $(uname -n) has written to it less than ten minutes ago and has not finished it: " refused.err ||
    fail "what is said where another host may record: $(cat refused.err)"
equal "the trace that was refused" "$(sha256sum killed.db)" "$sum"
touch -d '1 hour ago' killed.db
"${elsewhere[@]}" "$rtl" trace --gpu soft -q -f -o killed.db -- true 2>replaced.err || fail "a trace that nobody records is not replaced"
