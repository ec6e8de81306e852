#!/usr/bin/env bash
# rtl bench: each workload in full mode, and RTL as another profiler would be given.
source "$(dirname "$0")/bench_lib.sh"

# Each workload, in full mode: the trace has what the device executed.
for workload in eager long streams graph-64 graph-512 graph-4096 copies threads decode; do
    bench 0 -w $workload -t full -r 1 -k 100 --gate lost=0,skipped=0
    # Kernels that it submitted, by its own count, are among those that were executed; copies may take kernels of their own.
    LD_PRELOAD=$soft SOFTGPU_PLUGINS=$build/lib/softgpu/bench_plugin.so "$work" $workload 100 >work.out
    submitted=$(sed -n 's/^rtl-bench-work: kernels=\([0-9]*\) .*/\1/p' work.out)
    [ "$(of full 'workload["kernels"]')" -ge "$submitted" ] || fail "$workload: the device executed less than the $submitted submitted"
    case $workload in
    copies | decode) ;;
    *) equal "kernels of $workload" "$(of full 'tool["completeness"]["expected"]')" "$submitted" ;;
    esac
    equal "$workload" "$(of full 'tool["completeness"]["recorded"] == workload["kernels"] and tool["bytes_per_kernel"]["median"] > 0')" True
    # So are its copies; the runtime's own are no tool's.
    copies=$(sed -n 's/^rtl-bench-work: .* copies=\([0-9]*\) .*/\1/p' work.out)
    [ "$workload" != decode ] || [ "$(rocr_of "$work")" -lt 18 ] || copies=0 # HIP 7.2 has small ones made by kernels of its own
    equal "copies of $workload" "$(of full "[tool['completeness']['copies'][k] for k in ('expected', 'recorded', 'lost', 'wrong')]")" \
        "[$copies, $copies, 0, 0]"
    equal "who says so" "$(of full 'tool["completeness"]["against"] + " " + result["gpu"]')" "truth software"
done


# RTL itself, as another profiler would be given, and by the environment alone: there its collector outlives the program.
bench 0 -w graph-64 -k 128 -r 2 --gate lost=0 \
    -t "name=itself,command='$rtl' trace -q --gpu soft -o {out} -- {program},count='$rtl' sql {out} 'SELECT count(*) FROM kernels'" \
    -t "name=bare,env=HSA_TOOLS_LIB=$build/lib/librtl.so,env=RTL_MODE=full,env=RTL_OUTPUT={out},count='$rtl' sql {out} 'SELECT count(*) FROM kernels'"
equal "itself" "$(of itself 'tool["completeness"]["recorded"]')" 193
equal "bare" "$(of bare '(tool["completeness"]["recorded"], tool["bytes_per_kernel"]["median"] > 0)')" "(193, True)"
