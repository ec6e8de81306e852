#!/usr/bin/env bash
# labels.sh BUILD PLUGIN SCENARIO...: streams, threads and processes are called what the program calls them, also where a
# handle or an id comes again. The program tells what it knows (labels.hip).
source "$(dirname "$0")/lib.sh"
export SOFTGPU_PLUGINS=$1 LD_LIBRARY_PATH=$build/lib/roctx LABELS_EXPECTED=$scratch/known
shift
scenario=("$@")

# same WHAT QUERY
same() {
    ask t.db "$2" | sort >told
    sort -o known known
    [ -s known ] || fail "the program knows nothing"
    cmp -s known told || { diff known told >diff.out || true; fail "$1"; }
}

if [ "${scenario[*]}" = "title wait" ]; then
    # A process that is killed says nothing at its end: the collector has looked.
    "$rtl" trace -q -m full --gpu soft -o t.db -- "$bin/labels" title wait >traced.out 2>traced.err &
    tracer=$!
    status=0
    for ((i = 0; i < 600; i++)); do
        [ "$(ask t.db "SELECT p.title || t.comm FROM processes p JOIN threads t USING (process) WHERE thread = pid" 2>ask.err || true)" \
            != "worker: idleidler" ] || break
        kill -0 $tracer 2>/dev/null || { wait $tracer || status=$?; fail "rtl trace ended with status $status before the program did"; }
        sleep 0.1
    done
    program=$(pgrep -P $tracer) || fail "the program is not there"
    kill -9 "$program"
    wait $tracer 2>/dev/null || status=$?
    equal "status of rtl trace" "$status" 137
else
    status=0
    "$rtl" trace -q -m full --gpu soft -o t.db -- "$bin/labels" "${scenario[@]}" >traced.out 2>traced.err || status=$?
    [ $status != 77 ] || exit 77
    [ $status = 0 ] || fail "the program ended with status $status"
    [ "${scenario[0]}" = exec ] || "$rtl" check t.db >check.out 2>check.err || fail "rtl check ended with status $?"
fi

case ${scenario[0]} in
streams)
    number=$((scenario[1] * scenario[2]))
    same "names of the streams of kernels" "SELECT k.grid_x, s.name FROM kernels k JOIN streams s USING (process, stream)"
    equal "streams, and the NULL stream" "$(ask t.db "SELECT count(*), count(DISTINCT stream) FROM kernels
        WHERE stream <> 0")" "$number|$number"
    equal "streams that were made and destroyed" "$(ask t.db "SELECT count(*) FROM streams WHERE created < destroyed")" $number
    equal "calls beside the life of their stream" "$(ask t.db "SELECT count(*) FROM api a JOIN streams s USING (process, stream)
        WHERE s.stream <> 0 AND (a.start < s.created - 1000 OR a.start > s.destroyed + 1000)")" 0
    equal "calls that destroy, by stream" "$(ask t.db "SELECT count(*), count(DISTINCT stream) FROM api
        WHERE name = 'hipStreamDestroy'")" "$number|$number"
    equal "generations" "$(ask t.db "SELECT count(*) FROM (SELECT handle FROM streams GROUP BY handle
        HAVING max(generation) <> count(*) OR count(DISTINCT generation) <> count(*))")" 0
    "$rtl" export -F chrome -o t.json t.db >export.out 2>export.err ||
        fail "rtl export ended with status $?"
    sed -n 's/^[0-9]*|//p' known | grep . | sort >names
    grep -o '"name":"stream [0-9]* stream [0-9]*"' t.json | sed 's/"name":"stream [0-9]* //; s/"$//' | sort >exported
    cmp -s names exported || { diff names exported >diff.out || true; fail "names of streams in the export"; }
    ;;
threads)
    same "names of threads" "SELECT thread, name FROM threads"
    ;;
again)
    same "threads of one tid" "SELECT t.tid, t.generation, t.name, k.grid_x FROM threads t JOIN api a USING (process, thread)
        JOIN kernels k ON k.process = a.process AND k.correlation = a.correlation WHERE t.thread <> (SELECT pid FROM processes)"
    ;;
exec)
    equal "what the program was called before" "$(ask t.db "SELECT p.title, p.comm, coalesce(t.comm, p.comm) FROM processes p
        JOIN threads t ON t.process = p.process AND t.thread = p.pid")" "|labels|labels"
    ;;
title)
    same "the title" "SELECT p.title, t.name FROM processes p JOIN threads t ON t.process = p.process AND t.thread = p.pid"
    equal "the command line" "$(ask t.db "SELECT command LIKE '%labels title%' FROM processes")" 1
    "$rtl" info t.db >info.out || fail "rtl info ended with status $?"
    grep -q '^  title  *worker: idle$' info.out || fail "rtl info does not tell the title"
    ;;
esac
