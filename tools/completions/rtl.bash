# bash completion for rtl(1)

# The word of rtl trace or rtl bench that is the program, or nothing: what follows it is completed as its own command line.
_rtl_program_index() {
    local i
    for ((i = 2; i < cword; i++)); do
        case ${words[i]} in
        --) ((i + 1 < cword)) && echo $((i + 1)) && return ;;
        -m | -o | --mode | --output | --gpu | --buffer | --delay | --duration | --metrics | --counting | --kernel | -w | --workload | -t | --tool | -r | --rounds | -k | --kernels | --gate | --html | --limit) ((i++)) ;;
        -*) ;;
        *) echo "$i" && return ;;
        esac
    done
}

_rtl() {
    local cur prev words cword program
    if declare -F _init_completion >/dev/null; then
        _init_completion || return
    else
        cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD - 1]} words=("${COMP_WORDS[@]}") cword=$COMP_CWORD
    fi
    local commands="trace ctl summary steps ranks idle memory graph ranges timeline report diff info check sql view export import fleet merge index doctor bench demo help"
    if [ "$cword" -eq 1 ]; then
        mapfile -t COMPREPLY < <(compgen -W "$commands --help --version" -- "$cur")
        return
    fi
    case ${words[1]} in
    help)
        mapfile -t COMPREPLY < <(compgen -W "${commands% help}" -- "$cur")
        return
        ;;
    trace | bench)
        program=$(_rtl_program_index)
        if [ -n "$program" ]; then
            declare -F _command_offset >/dev/null && _command_offset "$program"
            return
        fi
        ;;
    esac
    if [ "${words[1]}" = graph ] && [ "$cword" -eq 2 ]; then
        mapfile -t COMPREPLY < <(compgen -W "list show launches costs diff --help" -- "$cur")
        return
    fi
    local processes=" --process --rank" times=" --from --to"
    local launches="$processes --stream$times --phase"
    local filters="$launches --kernel --gpu"
    case ${words[1]}:$prev in
    graph:-s | graph:--sort) mapfile -t COMPREPLY < <(compgen -W "time node gap cv" -- "$cur") ;;
    graph:-n | graph:--top | diff:-n | diff:--top | steps:-n | steps:--top | ranks:-n | ranks:--top | idle:-n | idle:--top | memory:-n | memory:--top) mapfile -t COMPREPLY < <(compgen -W "0 10 20 50" -- "$cur") ;;
    steps:-b | steps:--by | report:-b | report:--by | diff:-b | diff:--by) mapfile -t COMPREPLY < <(compgen -W "auto launches kernels graph: range:" -- "$cur") ;;
    ranks:-b | ranks:--by) mapfile -t COMPREPLY < <(compgen -W "auto collectives launches kernels range:" -- "$cur") ;;
    fleet:--sql-dir) mapfile -t COMPREPLY < <(compgen -d -- "$cur") ;;
    merge:--align) mapfile -t COMPREPLY < <(compgen -W "auto exchanges collectives time-of-day" -- "$cur") ;;
    summary:-s | summary:--sort) mapfile -t COMPREPLY < <(compgen -W "total calls mean p50 p99 min max name" -- "$cur") ;;
    summary:--by) mapfile -t COMPREPLY < <(compgen -W "name family" -- "$cur") ;;
    timeline:-l | timeline:--launch) mapfile -t COMPREPLY < <(compgen -W "1:1" -- "$cur") ;;
    timeline:-w | timeline:--width) mapfile -t COMPREPLY < <(compgen -W "80 120 200" -- "$cur") ;;
    ctl:-d | ctl:--duration) mapfile -t COMPREPLY < <(compgen -W "500ms 2s 1m" -- "$cur") ;;
    trace:-m | trace:--mode) mapfile -t COMPREPLY < <(compgen -W "lite standard hip full" -- "$cur") ;;
    trace:--gpu | bench:--gpu | doctor:--gpu) mapfile -t COMPREPLY < <(compgen -W "auto soft real" -- "$cur") ;;
    bench:-w | bench:--workload)
        mapfile -t COMPREPLY < <(compgen -W "eager long streams graph-64 graph-512 graph-4096 copies threads decode" -- "$cur")
        ;;
    bench:-t | bench:--tool) mapfile -t COMPREPLY < <(compgen -W "lite standard hip full full/intercept all name=" -- "$cur") ;;
    bench:--gate) mapfile -t COMPREPLY < <(compgen -W "overhead=3%,lost=0,bytes=10" -- "$cur") ;;
    bench:--limit) mapfile -t COMPREPLY < <(compgen -W "30s 5m" -- "$cur") ;;
    bench:-r | bench:--rounds | bench:-k | bench:--kernels) mapfile -t COMPREPLY < <(compgen -W "5 9 20" -- "$cur") ;;
    trace:--delay | trace:--duration) mapfile -t COMPREPLY < <(compgen -W "500ms 2s 1m" -- "$cur") ;;
    trace:--counting) mapfile -t COMPREPLY < <(compgen -W "kernel range" -- "$cur") ;;
    trace:--metrics) mapfile -t COMPREPLY < <(compgen -W "list waves gpu_busy valu_per_wave l2_hit fetch_bytes write_bytes" -- "$cur") ;;
    ranges:-m | ranges:--metrics) mapfile -t COMPREPLY < <(compgen -W "list all" -- "$cur") ;;
    trace:--buffer) mapfile -t COMPREPLY < <(compgen -W "64M 256M 1G" -- "$cur") ;;
    export:-F | export:--format) mapfile -t COMPREPLY < <(compgen -W "chrome perfetto csv rpd rocpd rocprofv3 html clickhouse" -- "$cur") ;;
    export:--table) mapfile -t COMPREPLY < <(compgen -W "kernels copies api ranges launches kernel_counters range_counters counter_collection" -- "$cur") ;;
    *:--from | *:--to) mapfile -t COMPREPLY < <(compgen -W "500ms 2s 1m" -- "$cur") ;;
    *:--phase) mapfile -t COMPREPLY < <(compgen -W "1 2 3" -- "$cur") ;;
    summary:--gpu | idle:--gpu | timeline:--gpu | export:--gpu | view:--gpu | *:--rank | *:--stream) mapfile -t COMPREPLY < <(compgen -W "0 1 2 3" -- "$cur") ;;
    export:--split-size) mapfile -t COMPREPLY < <(compgen -W "100M 400M 1G" -- "$cur") ;;
    import:-o | import:--output | doctor:-o | doctor:--output | export:-o | export:--output | trace:-o | trace:--output | view:-o | view:--output | merge:-o | merge:--output | demo:-k | demo:--keep | bench:--html | check:-t | check:--truth | summary:--families | steps:--families | report:--families | diff:--families | export:--families | view:--families | report:-o | report:--output)
        mapfile -t COMPREPLY < <(compgen -f -- "$cur")
        ;;
    trace:-- | bench:--) mapfile -t COMPREPLY < <(compgen -c -- "$cur") ;;
    *)
        local options="--help"
        case ${words[1]} in
        trace) options+=" --mode --output --force --gpu --buffer --delay --duration --start-off --metrics --counting --kernel --sync --quiet --verbose --" ;;
        ctl) options+=" --pid --duration --steps --json" ;;
        summary) options+=" --top --sort --by --families --wide --json$filters" ;;
        info | index) options+=" --json" ;;
        sql) options+=" --json --headings --no-headings" ;;
        doctor) options+=" --json --selftest --output --force --gpu" ;;
        export) options+=" --format --output --force --per-rank --split-size --table --gzip --no-counters --detail --page-size --families --url --label --sample --cluster --ttl --jobs --patience$filters" ;;
        fleet) options+=" --url --where --before --after --from --to --kernel --by --top --json --sql-dir --show-sql" ;;
        view) options+=" --output --force --no-open --browser --port --detail --page-size --families$filters" ;;
        import) options+=" --output --force" ;;
        merge) options+=" --align --output --force --resume --json" ;;
        ranges) options+=" --top --each --range --name --kernels --metrics --wide --json" ;;
        memory) options+=" --top --json" ;;
        idle) options+=" --top --json --gpu$processes$times" ;;
        report) options+=" --output --force --by --families --json" ;;
        steps) options+=" --by --families --top --list --json --phase$processes$times" ;;
        ranks) options+=" --by --families --top --list --json$processes$times" ;;
        timeline) options+=" --launch --width --json$filters" ;;
        diff) options+=" --top --fail-if --by --families --all --wide --json" ;;
        graph)
            options+=" --json"
            case ${words[2]} in
            list) options+=" --top --generations$launches" ;;
            show) options+=" --top --sort --layers --wide --kernel$launches" ;;
            launches) options+=" --top --all --wide$launches" ;;
            diff) options+=" --top --families --all --wide" ;;
            costs) options+=" --top$processes" ;;
            esac
            ;;
        check) options+=" --truth --deep --json --no-wait" ;;
        bench) options+=" --workload --tool --rounds --kernels --gpu --gate --html --force --json --limit --quiet --" ;;
        demo) options+=" --keep --tokens" ;;
        esac
        case $cur:${words[1]} in
        -*:*) mapfile -t COMPREPLY < <(compgen -W "$options" -- "$cur") ;;
        *:ctl) mapfile -t COMPREPLY < <(compgen -W "start stop record status" -- "$cur") ;;
        *:trace | *:bench) mapfile -t COMPREPLY < <(compgen -c -- "$cur") ;;
        *:fleet) mapfile -t COMPREPLY < <(compgen -W "runs kernels regressions hosts gpus idle stragglers launches losses spread trend" -- "$cur") ;;
        *:summary | *:steps | *:ranks | *:idle | *:memory | *:graph | *:ranges | *:timeline | *:report | *:diff | *:merge | *:index | *:info | *:check | *:sql | *:view | *:export | *:import) mapfile -t COMPREPLY < <(compgen -f -- "$cur") ;;
        esac
        ;;
    esac
}

complete -o filenames -F _rtl rtl
