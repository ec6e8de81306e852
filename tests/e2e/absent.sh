#!/usr/bin/env bash
# absent.sh BUILD: where work of a GPU is not in the trace, no idle time is told as if it were known. Two threads submit
# 16 kernels at once and one alone each, of which mode standard has the two.
source "$(dirname "$0")/lib.sh"

# record MODE: 34 kernels, which the software GPU's log must have.
record() {
    SOFTGPU_TRUTH=$scratch/truth SOFTGPU_DURATION=20000 "$rtl" trace -q -f -m "$1" --gpu soft -o "$1.db" -- \
        "$bin/hsa_storm" --dispatches 34 --batch 16 --threads 2 >run.out 2>run.err || fail "the program ended with status $?"
    "$rtl" check -t truth "$1.db" >check.out || fail "the trace of $1 is not complete"
    "$rtl" idle --json "$1.db" >"$1.idle.json"
    "$rtl" idle "$1.db" >"$1.idle.out"
    "$rtl" summary --json "$1.db" >"$1.summary.json"
    "$rtl" summary "$1.db" >"$1.summary.out"
    "$rtl" report --json "$1.db" >"$1.report.json"
}

# value FILE EXPRESSION: of the JSON `it`.
value() {
    python3 -c 'import json, sys; it = json.load(open(sys.argv[1])); print(eval(sys.argv[2]))' "$1" "$2"
}

record full
equal "kernels that are absent in full mode" "$(value full.idle.json "it['gpus'][0]['absent']")" None
grep -q '^GPU 0.*: idle for [0-9]' full.idle.out || fail "idle time that is known is not told"
grep -q ', idle [0-9]' full.summary.out || fail "the summary tells no idle time"
equal "idle time in JSON" "$(value full.summary.json "it['gpus'][0]['idle_ns'] is None")" False

record standard
equal "kernels in the trace" "$(ask standard.db 'SELECT count(*) FROM kernels')" 2
for json in "idle.json it['gpus'][0]" "report.json it['idle'][0]"; do
    equal "what ${json%% *} says is absent" "$(value "standard.${json%% *}" "${json#* }['absent']")" \
        "{'kernels': 32, 'copies': 0, 'packets': 0, 'by_mode': 32, 'why': 'left out by the mode standard'}"
done
grep -q '^GPU 0.*: idle for at most ' standard.idle.out || fail "idle time is told as if it were known"
grep -qxF '  32 kernels are not in the trace (left out by the mode standard)' standard.idle.out || fail "rtl idle does not say what is absent"
! grep -q 'idle' standard.summary.out || fail "the summary tells idle time that is not known"
equal "idle time in the summary" "$(value standard.summary.json "[it['gpus'][0]['idle_ns'], it['gpus'][0].get('idle_causes')]")" "[None, None]"

"$rtl" diff full.db standard.db >diff.out
equal "lines of rtl diff about what is absent" "$(grep 'not in the trace' diff.out)" \
    "  standard.db: 32 kernels are not in the trace (left out by the mode standard)"
"$rtl" diff --json full.db standard.db >diff.json
equal "what is absent in the JSON of rtl diff" "$(value diff.json "[run and run['kernels'] for run in it['absent']]")" "[None, 32]"
"$rtl" ranges --json standard.db >ranges.json
equal "what is absent in the JSON of rtl ranges" "$(value ranges.json "it['absent']['kernels']")" 32
"$rtl" ranges standard.db | grep -qxF '  32 kernels are not in the trace (left out by the mode standard), and in no range' ||
    fail "rtl ranges does not say what is absent"

# One that is whole beside one of which the mode has nothing: each is told for itself.
SOFTGPU_DURATION=20000 "$rtl" trace -q -m standard --gpu soft -o none.db -- "$bin/hsa_storm" --dispatches 32 --batch 16 >run.out 2>run.err ||
    fail "the program ended with status $?"
status=0
"$rtl" idle none.db 2>none.err >none.out || status=$?
equal "a trace of no kernels" "$status $(cat none.err)" \
    "2 rtl: none.db has no kernels: 32 kernels are not in the trace (left out by the mode standard)"
"$rtl" merge both.db full.db none.db >merge.out || fail "rtl merge ended with status $?"
"$rtl" idle both.db >both.out
grep -q '^GPU 0.* of process 1: idle for [0-9]\|^GPU 0: idle for [0-9]' both.out || fail "process 1 has no idle time that is known"
grep -qxF 'process 2: 32 kernels are not in the trace (left out by the mode standard)' both.out || fail "process 2 is not told of"
"$rtl" idle --json both.db >both.json
equal "what is absent of both" "$(value both.json "[it['absent']['kernels'], it['gpus'][0]['absent']]")" "[32, None]"
for what in "1 False None" "2 True 32"; do
    "$rtl" summary --json -p "${what%% *}" both.db >both.json
    equal "whether idle time is not known, and kernels that are absent, of process ${what%% *}" \
        "$(value both.json "(it['gpus'][0]['idle_ns'] is None if it['gpus'] else True, it['absent'] and it['absent']['kernels'])")" \
        "($(cut -d' ' -f2 <<<"$what"), ${what##* })"
done

# Lost, not left out: a program that is killed with its queue full.
SOFTGPU_DURATION=3000000 "$rtl" trace -q -m full --gpu soft -o killed.db -- timeout -s KILL 3 "$bin/hsa_storm" --dispatches 100000 \
    >run.out 2>run.err || true
"$rtl" summary --json killed.db >killed.json
equal "why kernels of a killed program are absent" "$(value killed.json "(it['absent']['why'], it['absent']['by_mode'])")" "('lost', 0)"
equal "idle time of it" "$(value killed.json "it['gpus'][0]['idle_ns'] is None")" False
"$rtl" summary killed.db >killed.out
grep -q ', idle at most ' killed.out || fail "the summary of lost kernels tells idle time as if it were known"
