#!/usr/bin/env bash
# stdout.sh BUILD SOURCE: what cannot be written to the standard output is told by every command in every form: one sentence, status 2.
source "$(dirname "$0")/lib.sh"
golden=$2/tests/golden/trace-1.5.sql
[ -c /dev/full ] || exit 77

sqlite3 t.db <"$golden"
"$rtl" trace -q --gpu soft -o a.db -- true

# Every command that writes there, a line each.
forms() {
    printf '%s\n' "" --version --help "help trace" "ctl status" "ctl status --json" doctor "doctor --json" "trace --metrics list" \
        "sql t.db 'SELECT 1'" "sql --json t.db 'SELECT 1'" "sql t.db 'SELECT hex(zeroblob(20000))'" \
        "sql t.db 'WITH n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i FROM n'" \
        "sql --json t.db 'WITH n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i FROM n'" \
        "diff t.db t.db" "diff --json t.db t.db" "steps t.db" "steps --json --list t.db" "graph costs t.db" "graph costs --json t.db" "idle t.db" "idle --json t.db" "timeline t.db" "timeline --json t.db" "summary t.db --top 0" \
        "graph list t.db" "graph list --json t.db" "graph list a.db" "graph show t.db 1" "graph show --json t.db 1" \
        "graph show --layers t.db 1" "graph launches t.db 1" "graph launches --json t.db 1" "graph diff t.db 1 1" "graph diff --json t.db 1 1" "graph --help" "graph list --help" \
        "merge -f m.db a.db" "index t.db" "index --json t.db" "merge -f --json m.db a.db" "ranges t.db" "ranges --json t.db" "view -n -o page.html a.db" "export -f -F csv -o table.csv a.db" "report -o report.html a.db" "report --json a.db" "export --usage"
    for command in summary info check ranges; do
        printf '%s\n' "$command a.db" "$command --json a.db" "$command t.db"
    done
    for command in trace ctl summary steps ranks idle memory graph ranges timeline report diff info check sql view export import fleet merge doctor bench demo; do
        echo "$command --help"
    done
    echo "export -F csv -o - t.db"
    [ ! -e "$build/bin/rtl-bench-work" ] || echo "bench --help"
}

# told WORDS REASON: what the command, run just now, has said.
told() {
    equal "status of 'rtl $1'" "$status" 2
    equal "lines of 'rtl $1'" "$(wc -l <said.err)" 1
    grep -q "^rtl: .*standard output.*$2" said.err || fail "'rtl $1' says: $(cat said.err)"
}

mkfifo pipe
exec 8<>pipe 9>pipe 8<&- # a pipe that nobody reads
forms >forms
[ "$(wc -l <forms)" -gt 60 ] || fail "not all commands are tried"
while read -r words; do
    [ -e "$build/lib/rtl-viewer.html" ] || [[ $words != @(view|report -o)* ]] || [[ $words = *--help ]] || continue
    eval "set -- $words"
    # What fails for another reason is not meant.
    case $words in
    "" | *WITH*) ;; # no end
    *) timeout 5 "$rtl" "$@" >plain.out 2>plain.err || [ $? != 2 ] || fail "'rtl $words' fails anyway: $(cat plain.err)" ;;
    esac
    status=0
    timeout 60 "$rtl" "$@" >/dev/full 2>said.err || status=$?
    told "$words" "No space left on device"
    status=0
    timeout 60 "$rtl" "$@" >&- 2>said.err || status=$?
    case $words in
    # The result is a file, and nobody wants to hear its name.
    "merge -f m.db"* | "index t.db" | "view -n -o"* | "export -f "* | "report -o "*)
        equal "status of 'rtl $words' with a closed standard output" "$status" 0
        equal "what 'rtl $words' says then" "$(cat said.err)" ""
        ;;
    *) told "$words" "\(closed\|Bad file descriptor\)" ;;
    esac
    # Who reads goes away: nothing is said, whatever SIGPIPE does.
    status=0
    timeout 60 "$rtl" "$@" >&9 2>said.err || status=$?
    [ ! -s said.err ] || fail "'rtl $words' says without a reader: $(cat said.err)"
    [ "$status" = 141 ] || [[ $words == export* ]] || fail "status of 'rtl $words' without a reader: $status"
    status=0
    (trap '' PIPE && exec timeout 60 "$rtl" "$@" >&9 2>said.err) || status=$?
    equal "status of 'rtl $words' where SIGPIPE is ignored" "$status" 2
    [[ $words == export* ]] || [ ! -s said.err ] || fail "'rtl $words' says without a reader: $(cat said.err)"
done <forms
