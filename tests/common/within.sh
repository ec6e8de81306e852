# shellcheck shell=bash
# Waiting for what comes in its own time; sourced.

# within SECONDS COMMAND...: the command holds by then.
within() {
    local deadline=$((SECONDS + $1))
    shift
    until "$@"; do
        [ $SECONDS -lt $deadline ] || return 1
        sleep 0.02
    done
}
