#!/usr/bin/env bash
# kernel_stats.sh BUILD PLUGIN: SQL's kernel_stats has what adding up `kernels` one by one has, for whichever columns a query
# names (kernel_stats.py): of a server, of two processes, and of two GPUs.
source "$(dirname "$0")/lib.sh"
export SOFTGPU_PLUGINS=$1
record() {
    "$rtl" trace -q -m full --gpu soft -o "$1.db" -- "${@:2}" >"$1.out" 2>"$1.err" || fail "the program ended with status $?"
}
record serve "$bin/steps" serve
# shellcheck disable=SC2016 # the inner shell's
record two bash -c '"$1" parts & "$1" make; wait' two "$bin/steps"
SOFTGPU_DEVICES=2 record gpus "$bin/steps" peers
python3 "$here/kernel_stats.py" "$rtl" serve.db two.db gpus.db >compare.out 2>compare.err || fail "kernel_stats does not have what kernels has"
