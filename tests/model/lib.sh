# shellcheck shell=bash disable=SC2034
# Shared by the scripts of this folder, on top of what those of tests/e2e share.
source "$(dirname "${BASH_SOURCE[0]}")/../e2e/lib.sh"
lib=$build/tests/lib
export HSA_TOOLS_REPORT_LOAD_FAILURE=1 SOFTGPU_TRUTH=$scratch/truth

# under GENERATION TOOLS COMMAND...: on the software GPU with TOOLS, behind the model unless GENERATION is `real`. Its
# output is in NAME.out and NAME.err, NAME that of the generation; its account of callbacks in `report`.
under() {
    local generation=$1 tools=$2
    shift 2
    if [ "$generation" != real ]; then
        tools="$lib/intercept_model.so $tools"
    fi
    rm -f "$SOFTGPU_TRUTH" report calls
    env LD_PRELOAD="$soft" HSA_TOOLS_LIB="$tools" MODEL_GENERATION="$generation" MODEL_REPORT=report \
        PASSTHROUGH_LOG=calls "$@" >"$generation.out" 2>"$generation.err" || fail "'$*' under $generation ended with status $?"
}

# counted KEY: a number of the model's report.
counted() {
    sed -n "s/.*\"$1\": \([0-9]*\).*/\1/p" report
}

# executed PATTERN: how many packets of the truth log match.
executed() {
    "$build/bin/softgpu-run" --truth truth | grep -c -E "$1" || true
}
