#!/usr/bin/env bash
# export.sh BUILD PLUGIN PROGRAM [ARGUMENT...]: a program is recorded, and what `rtl export` writes of the trace in all formats of this
# script says what SQL says: rows, times to the ns, and how they hang together.
source "$(dirname "$0")/lib.sh"
export SOFTGPU_PLUGINS=$1 SOFTGPU_TRUTH=$scratch/truth HIP_GRAPHS_EXPECTED=$scratch/expected
shift
program=$bin/$1
shift

same() {
    python3 "$here/export.py" "$1" "$rtl" "$2" "${@:3}" >same.out 2>same.err || fail "$1 ${*:3} is not what the trace has"
}

# schema "FILE..." NAME: the JSON has what schemas/NAME.json asks for.
schema() {
    # shellcheck disable=SC2086 # several files
    python3 "$here/json_schema.py" "$here/schemas/$2.json" $1 2>schema.err
}

decode() {
    protoc -I "$here" --decode=Trace "$here/perfetto.proto" <"$1" >"$2" 2>protoc.err || fail "$1 is no Perfetto trace"
}

# The file is there, or under its temporary name.
began() {
    [ -n "$(find . -name "$1*")" ]
}

within() {
    local deadline=$((SECONDS + $1))
    until "${@:2}"; do
        [ $SECONDS -lt $deadline ] || return 1
        sleep 0.001
    done
}

"$rtl" trace -q -m full --gpu soft -o t.db -- "$program" "$@" >traced.out 2>traced.err || fail "the program ended with status $?"
kernels=$(ask t.db "SELECT count(*) FROM kernels")

# The reader that was written from docs/format.md alone sees the same.
python3 "$here/../golden/read_trace.py" t.db "$rtl" >book.out 2>book.err || fail "docs/format.md says something else"

# CSV.
tables=()
for table in kernels copies api ranges launches; do
    "$rtl" export t.db --format csv --table $table -o $table.csv >csv.out 2>csv.err || fail "export of $table"
    tables+=("$table=$table.csv")
done
same csv t.db "${tables[@]}"
"$rtl" export t.db -F csv --split-size 4K -o part.csv >csv.out 2>csv.err || fail "CSV in parts"
equal "kernels in all parts" "$(cat part-*.csv | grep -c -v '^id,')" "$kernels"
equal "kernels on the standard output" "$("$rtl" export t.db -F csv -o - | tail -n +2 | sort)" "$(tail -n +2 kernels.csv | sort)"

# Chrome.
"$rtl" export t.db --format chrome >chrome.out 2>chrome.err || fail "export to Chrome"
jq -e '.traceEvents | length > 0' t.json >/dev/null || fail "jq does not read the JSON"
equal "access" "$(stat -c %a t.json)" "$(printf %o $((0666 & ~$(umask))))"
same chrome t.db t.json
schema t.json chrome || fail "Chrome's JSON lacks what its readers ask for"
jq '(.traceEvents[] | select(.cat == "kernel") | .args) |= del(.stream)' t.json >less.json
! schema less.json chrome || fail "nobody misses the stream of kernels"
"$rtl" export t.db -F chrome -o - | cmp -s - t.json || fail "the standard output gets something else"
"$rtl" export t.db -F chrome --split-size 20K -o part.json >chrome.out 2>chrome.err || fail "Chrome in parts"
same chrome t.db part-*.json
schema "$(echo part-*.json)" chrome || fail "a part lacks what readers ask for"
for part in part-*.json; do
    [ "$(stat -c %s "$part")" -lt 40000 ] || fail "$part is too large"
done

# Perfetto.
"$rtl" export t.db --format perfetto -o t.pftrace >perfetto.out 2>perfetto.err || fail "export to Perfetto"
decode t.pftrace t.txt
same perfetto t.db t.txt
"$rtl" export t.db -F perfetto --split-size 10K -o part.pftrace >perfetto.out 2>perfetto.err || fail "Perfetto in parts"
for part in part-*.pftrace; do
    decode "$part" part.txt
done
cat part-*.pftrace >all.pftrace
decode all.pftrace all.txt
same perfetto t.db all.txt

# A part of the time, which is told in both ways.
after_begin() {
    local ns=$(($1 - $(ask t.db "SELECT value FROM meta WHERE key = 'start'")))
    printf '%d.%03dus' $((ns / 1000)) $((ns % 1000))
}

middle=$(ask t.db "SELECT end FROM kernels ORDER BY start LIMIT 1 OFFSET $((kernels / 3))")
last=$(ask t.db "SELECT start FROM kernels ORDER BY start LIMIT 1 OFFSET $((kernels * 2 / 3))")
[ "$middle" -lt "$last" ] || fail "there are too few kernels"
wanted=$(ask t.db "SELECT id FROM kernels WHERE start < $last AND end > $middle ORDER BY id")
equal "kernels of a time" "$("$rtl" export t.db -F csv --from "$middle" --to "$last" -o - | tail -n +2 | cut -d, -f1 | sort -n)" "$wanted"
equal "kernels of a time since the begin" "$("$rtl" export t.db -F csv --from "$(after_begin "$middle")" --to "$(after_begin "$last")" -o - |
    tail -n +2 | cut -d, -f1 | sort -n)" "$wanted"
"$rtl" export t.db -F chrome --from "$middle" --to "$last" -o part.chrome.json 2>chrome.err
equal "kernels of a time in Chrome" "$(jq '[.traceEvents[] | select(.cat == "kernel" or .cat == "gpu_memset")] | length' part.chrome.json)" \
    "$(ask t.db "SELECT count(*) FROM kernels WHERE start < $last AND end > $middle")"
equal "arrows with one end" "$(jq '[.traceEvents[] | select(.ph == "s") | .id] - [.traceEvents[] | select(.ph == "f") | .id] | length' part.chrome.json)" 0

# A signal in the middle leaves nothing that is not whole.
for _ in 1 2 3 4 5; do
    "$rtl" export t.db -F chrome --split-size 2K -o ended.json >ended.out 2>ended.err &
    exporter=$!
    within 60 began ended-1.json
    kill -TERM $exporter 2>ended.err || true
    wait $exporter 2>ended.err && ended=whole || ended=$?
    [ "$ended" = whole ] || equal "status of an export that was ended" "$ended" 143
    equal "files that are not whole" "$(find . -name 'ended-*.json.*')" ""
    rm -f ended-*.json
done

# Two ranks.
"$rtl" trace -q -m full --gpu soft -o ranks.db -- sh -c 'RANK=3 "$0" "$@" & RANK=4 "$0" "$@"; wait' "$program" "$@" >ranks.out 2>ranks.err ||
    fail "two ranks"
"$rtl" export ranks.db -F chrome --per-rank >chrome.out 2>chrome.err || fail "a file for each rank"
for rank in 3 4; do
    [ "$(ask ranks.db "SELECT count(*) FROM kernels JOIN processes USING (process) WHERE rank = '$rank'")" -gt 0 ] || fail "no kernels of rank $rank"
    equal "rank" "$(jq .distributedInfo.rank ranks-rank$rank.json)" $rank
    equal "kernels of rank $rank" "$(jq '[.traceEvents[] | select(.cat == "kernel" or .cat == "gpu_memset")] | length' ranks-rank$rank.json)" \
        "$(ask ranks.db "SELECT count(*) FROM kernels JOIN processes USING (process) WHERE rank = '$rank'")"
    equal "kernels of rank $rank in CSV" "$("$rtl" export ranks.db -F csv --rank $rank -o - | tail -n +2 | wc -l)" \
        "$(ask ranks.db "SELECT count(*) FROM kernels JOIN processes USING (process) WHERE rank = '$rank'")"
done
"$rtl" export ranks.db -F chrome -o both.json >chrome.out 2>chrome.err || fail "both ranks in one file"
equal "kernels of both" "$(jq '[.traceEvents[] | select(.cat == "kernel" or .cat == "gpu_memset")] | length' both.json)" "$(ask ranks.db "SELECT count(*) FROM kernels")"
equal "correlations of both" "$(jq '[.traceEvents[] | select(.cat == "cuda_runtime") | .args.correlation] | length == (unique | length)' both.json)" true
equal "leftovers" "$(find . -regex '.*\.\(json\|csv\|pftrace\)\.[A-Za-z0-9]*')" ""
