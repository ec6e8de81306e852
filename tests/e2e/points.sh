#!/usr/bin/env bash
# points.sh BUILD POINT: what once went wrong, each alone and by nothing but what every version has: no column, message or option that came
# with its mending. So a version in which it went wrong shows it, and not that something else was different then. The scripts that are
# named test the same from all sides. Those that need another user need root, and are skipped (77) otherwise.
source "$(dirname "$0")/lib.sh"
point=$1
unset RTL_QUEUE SOFTGPU_TRUTH
bob=47112

# other_user COMMAND...
other_user() {
    timeout 60 setpriv --reuid="$bob" --regid="$bob" --clear-groups "$@"
}

need_other_user() {
    [ "$(id -u)" = 0 ] || { echo "not root: skipped" && exit 77; }
    other_user "$rtl" --version >/dev/null 2>&1 || { echo "other users cannot run $rtl: skipped" && exit 77; }
    chmod 711 "$scratch"
    mkdir -m 1777 shared
}

# trace FILE: one of no kernels, or of some.
trace() {
    "$rtl" trace -q --gpu soft -o "$1" -- true || fail "rtl trace ended with status $?"
}
kernels() {
    "$rtl" trace -q -m full --gpu soft -o "$1" -- "$bin/hsa_storm" --dispatches 300 --batch 16 --threads 2 --queues 2 >storm.out ||
        fail "rtl trace ended with status $?"
}

# plain WHAT FILE: nothing in it commands a terminal.
plain() {
    ! grep -q $'\x1b' "$2" || fail "an escape reaches the terminal from $1"
}

# one_sentence WHAT STATUS COMMAND...
one_sentence() {
    local status=0
    "${@:3}" >said.out 2>said.err || status=$?
    equal "status of $1" "$status" "$2"
    equal "lines that $1 is answered with" "$(cat said.out said.err | wc -l)" 1
}

case $point in
# Lost ranges are no complete trace (flood.sh).
lost-ranges)
    # Where kernels are lost as well, the trace is incomplete anyway: several times.
    for ((i = 0; i < 4; i++)); do
        LD_LIBRARY_PATH=$build/lib/roctx SOFTGPU_DURATION=0 "$rtl" trace -q -f -m full --gpu soft --buffer 64K -o t.db -- "$bin/flood" 400000 >run.out 2>run.err ||
            fail "the program ended with status $?"
        made=$(sed -n 's/.*\<ranges \([0-9]*\).*/\1/p' run.out)
        stored=$(ask t.db "SELECT count(*) FROM ranges WHERE kind = 'push'")
        [ "$stored" -lt "$made" ] || fail "nothing was lost: the flood is too small"
        ! "$rtl" check t.db >check.out || fail "$stored of $made ranges are called $(head -n 1 check.out)"
    done
    ;;
# What passes while recording is stopped is not left out by the mode (ctl.sh).
stopped)
    export SOFTGPU_DURATION=1000
    coproc program { exec "$rtl" trace -q -m full --gpu soft -o t.db -- "$bin/ctl" 2>run.err; }
    read -r -t 60 <&"${program[0]}" || fail "the program said nothing"
    # shellcheck disable=SC2154 # coproc sets it
    recorder=$program_PID input=${program[1]}
    echo 5 >&"$input"
    read -r -t 60 <&"${program[0]}" || fail "the program said nothing"
    "$rtl" ctl stop -p "$(ps -o pid= --ppid "$recorder" | tr -d ' ')" || fail "rtl ctl stop ended with status $?"
    echo 100 >&"$input"
    read -r -t 60 <&"${program[0]}" || fail "the program said nothing"
    exec {input}>&-
    wait "$recorder" || fail "the program ended with status $?"
    equal "kernels" "$(ask t.db 'SELECT count(*) FROM kernels')" 5
    "$rtl" check t.db >check.out 2>&1 || true
    ! grep -q 'by the mode\|does not record them\|-m full' check.out || fail "full mode is blamed: $(grep -m 1 'by the mode\|does not record them\|-m full' check.out)"
    ;;
# A FIFO, or a device, is written to and stays (outputs.sh).
export-device | view-device)
    trace t.db
    mkfifo output
    timeout 20 cat output >got &
    case $point in
    export-device) timeout 20 "$rtl" export t.db -f -F csv -o output >said.out 2>said.err || true ;;
    view-device) timeout 60 "$rtl" view t.db -n -o output >said.out 2>said.err || true ;;
    esac
    [ -p output ] || fail "a regular file took the place of a FIFO"
    kill $! 2>/dev/null || true
    ;;
# A recording that cannot begin leaves the one before (outputs.sh).
kept-trace)
    trace keep.db
    before=$(sha256sum keep.db)
    printf '#!/nowhere/interpreter\n' >broken
    chmod +x broken
    ! "$rtl" trace -q -f --gpu soft -o keep.db -- ./broken >said.out 2>said.err || fail "a broken program was run"
    [ -e keep.db ] || fail "the trace is gone"
    equal "the trace" "$(sha256sum keep.db)" "$before"
    ;;
# What is read is not written (outputs.sh).
export-over-input | view-over-input)
    trace t.db
    before=$(sha256sum t.db)
    case $point in
    export-over-input) "$rtl" export t.db -f -F csv -o t.db >said.out 2>said.err || true ;;
    view-over-input) "$rtl" view t.db -n -o t.db >said.out 2>said.err || true ;;
    esac
    equal "the trace" "$(sha256sum t.db)" "$before"
    ;;
# A file of another kind stays without -f (outputs.sh).
view-over-others)
    trace t.db
    echo precious >mine
    "$rtl" view t.db -n -o mine >said.out 2>said.err || true
    equal "a file of somebody's" "$(cat mine)" precious
    ;;
# Another user's FIFO does not hold up anybody (tools.others).
planted-session)
    need_other_user
    planted=$(mktemp -u /dev/shm/rtl.XXXXXX)
    trap 'rm -rf "$scratch" "$planted"' EXIT
    other_user sh -c 'umask 0; mkdir -m 777 "$1"; mkfifo -m 666 "$1/session"' - "$planted"
    status=0
    timeout 20 "$rtl" ctl status >said.out 2>said.err || status=$?
    [ "$status" != 124 ] || fail "rtl ctl waits for another user's FIFO"
    ;;
# Another user's file gets nothing of a recording (tools.others).
planted-log)
    need_other_user
    other_user sh -c 'umask 0; : >"$1"' - "$scratch/shared/x.db-wal"
    # shellcheck disable=SC2016 # expanded by that shell
    timeout 60 setpriv --reuid=47111 --regid=47111 --clear-groups "$rtl" trace -q --gpu soft -o "$scratch/shared/x.db" -- sh -c 'sleep 1.5; stat -c "%u %s" "$1"' - "$scratch/shared/x.db-wal" >while.out 2>said.err || true
    ! grep -q "^$bob [1-9]" while.out || fail "another user's file gets the trace: owner and size are $(cat while.out)"
    ;;
# A session whose owner is gone goes, though its file is empty (collect.sh).
empty-session)
    # In a place of its own: other recordings sweep the usual ones.
    export TMPDIR=$scratch/tmp
    left=$TMPDIR/rtl.aaaaaa
    mkdir "$TMPDIR"
    mkdir -m 700 "$left"
    : >"$left/session"
    touch -d '2 days ago' "$left/session"
    "$rtl" trace -q --gpu soft -o t.db -- sleep 1 || fail "rtl trace ended with status $?"
    [ ! -e "$left" ] || fail "the folder of a session whose owner is gone stays"
    ;;
# Names do not command a terminal, or a spreadsheet (hostile.sh).
plain-info)
    "$rtl" trace -q --gpu soft -o t.db -- true $'\x1b[2Jname' || fail "rtl trace ended with status $?"
    "$rtl" info t.db >info.out || fail "rtl info ended with status $?"
    plain "rtl info" info.out
    ;;
plain-note)
    trace t.db
    sqlite3 t.db "INSERT INTO notes(process, time, text) VALUES(1, 1, char(27) || '[2Jname')"
    "$rtl" check t.db >shown.out 2>&1 || true
    grep -q name shown.out || fail "the note is not shown"
    plain "rtl check" shown.out
    ;;
formula)
    kernels t.db
    sqlite3 t.db "UPDATE symbols SET name = '=HYPERLINK(1)'"
    "$rtl" export t.db -F csv --table kernels -o kernels.csv || fail "rtl export ended with status $?"
    grep -q "HYPERLINK" kernels.csv || fail "the name is not there"
    ! grep -q '\(^\|,\)"\?=HYPERLINK' kernels.csv || fail "a name is a formula: $(grep -m 1 HYPERLINK kernels.csv)"
    ;;
# What is awkward (tools.sentences, outputs.sh, ctl.sh).
attach)
    "$rtl" trace -p 1 >said.out 2>said.err && fail "a process was attached to"
    grep -q 'RTL_START=off' said.err && grep -q 'rtl ctl' said.err || fail "it is not said what to do instead: $(cat said.err)"
    ;;
unknown-option) one_sentence "an unknown option" 2 "$rtl" summary --no-such-option ;;
no-statement)
    trace t.db
    one_sentence "an empty statement" 2 "$rtl" sql t.db ''
    ;;
window)
    kernels t.db
    "$rtl" export t.db -F csv --from 1h -o window.csv >said.out 2>said.err || true
    [ -s said.err ] || fail "an empty file was written without a word"
    ;;
umask)
    trace t.db
    (umask 022 && "$rtl" export t.db -F csv -o t.csv 2>said.err) || fail "rtl export ended with status $?"
    equal "mode of an export" "$(stat -c %a t.csv)" 644
    ;;
orphan)
    mkfifo input
    exec 8<>input
    "$rtl" trace -q -m full --gpu soft -o t.db -- "$bin/ctl" <input >run.out 2>run.err 8>&- &
    recorder=$!
    echo 5 >&8
    for ((i = 0; i < 1000; i++)); do grep -q 'ran 5' run.out && break || sleep 0.02; done
    pid=$(ps -o pid= --ppid $recorder | tr -d ' ')
    "$rtl" ctl status -p "$pid" | grep -q recording || fail "the program is not recorded"
    kill -KILL $recorder
    wait $recorder 2>/dev/null || true
    "$rtl" ctl status -p "$pid" >said.out 2>said.err || true
    kill "$pid"
    ! grep -q "$pid  *recording" said.out || fail "what nobody reads is said to be recorded: $(grep recording said.out)"
    ;;
*) fail "there is no point $point" ;;
esac
