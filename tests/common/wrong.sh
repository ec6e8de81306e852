# shellcheck shell=bash
# What a mistake is answered with; sourced beside a lib.sh, whose `fail` and `equal` it uses.

# wrong STATUS PATTERN... -- COMMAND: ends with the status, prints nothing, and says one line that matches all patterns.
wrong() {
    local wanted=$1 patterns=() pattern status=0
    shift
    while [ "$1" != -- ]; do
        patterns+=("$1")
        shift
    done
    shift
    "$@" >wrong.out 2>wrong.err || status=$?
    equal "status of '${*:2}'" "$status" "$wanted"
    [ ! -s wrong.out ] || fail "'${*:2}' wrote to stdout"
    equal "lines of '${*:2}'" "$(wc -l <wrong.err)" 1
    grep -q '^rtl: ' wrong.err || fail "'${*:2}' does not say who speaks"
    for pattern in "${patterns[@]}"; do
        grep -q -F -e "$pattern" wrong.err || fail "the sentence of '${*:2}' does not say '$pattern'"
    done
}
