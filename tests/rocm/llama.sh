#!/usr/bin/env bash
# llama.sh: llama.cpp under rtl trace, with graphs, on a model of random weights (tiny_model.py). The software GPU
# computes nothing of its kernels, so what it says is of no use; what it runs does not depend on that. Each trace must
# be complete and the truth, and rtl steps must find what llama.cpp was asked for: prefills, and a step for each
# token. Runs in a root of script/rocm. The packages are installed once (400 MB to download, 2.3 GB of disk) and stay
# in the root.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
here=$PWD
packages=(llama.cpp-tools libggml0-backend-hip)

fail() {
    echo "llama.sh: $*" >&2
    exit 1
}

equal() {
    [ "$2" = "$3" ] || fail "$1: got '$2', want '$3'"
}

are_installed() {
    [ "$(dpkg-query -W -f '${db:Status-Status}\n' "${packages[@]}" 2>/dev/null | grep -cx installed)" = ${#packages[@]} ]
}

apt() {
    DEBIAN_FRONTEND=noninteractive apt-get -q -y -o Acquire::Retries=10 -o Acquire::http::Timeout=120 "$@" </dev/null
}

# Of rocBLAS's kernels only those of the software GPU's architecture: all of them are 4 GB.
install() {
    apt update || true # the packages may be there all the same
    apt -o Dpkg::Options::='--path-exclude=/usr/lib/*/rocblas/*gfx*' \
        -o Dpkg::Options::='--path-include=/usr/lib/*/rocblas/*gfx906*' --no-install-recommends install "${packages[@]}"
    apt clean
}

# recorded NAME COMMAND...: its trace, NAME.db.
recorded() {
    local name=$1
    shift
    SOFTGPU_TRUTH=$name.truth "$rtl" trace -q -m full --gpu soft -o "$name.db" -- "$@" >"$name.out" 2>"$name.err" || {
        tail -n 20 "$name.err" >&2
        fail "$name: status $? under rtl trace"
    }
    "$rtl" check --truth "$name.truth" "$name.db" || fail "$name: the trace is not the truth"
}

# Steps and launches of each phase, in the order in which they begin: "4:4 64:64".
phases() {
    "$rtl" steps --json "$1.db" | jq -r '[.threads[].phases[] | "\(.steps):\(.launches)"] | join(" ")'
}

# graph_of NAME LAUNCHES: the graph that was launched so often.
graph_of() {
    "$rtl" sql "$1.db" "SELECT graph FROM graph_launches GROUP BY graph HAVING count(*) = $2"
}

# no_prefill_in_tokens NAME: a pass over the model is 8 kernels a layer, or more.
no_prefill_in_tokens() {
    local many="select(.eager_kernels >= 8 * $layers)"
    equal "tokens of $1 with a prefill in them" \
        "$("$rtl" steps --list --json "$1.db" | jq "[.threads[].steps[] | $many] | length")" 0
}

are_installed || install
tests/rocm/tested.sh
rtl=$here/build/tested/bin/rtl
model=/tmp/tiny.gguf
prompt=32 tokens=16 rounds=4 layers=4
bench=(llama-bench -m "$model" -ngl 99 -p "$prompt" -n "$tokens" -r "$rounds")
python3 tests/rocm/tiny_model.py "$model"
cd "$(mktemp -d)"

# A prefill is a launch, and so is a token; llama-bench warms up with one of each, of which llama.cpp makes no graph.
# Which kernels llama.cpp fuses depends on where its memory lies, and differs from layer to layer.
GGML_CUDA_DISABLE_FUSION=1 recorded bench "${bench[@]}"
steps=$((rounds * tokens))
equal "prefills and tokens" "$(phases bench)" "$rounds:$rounds $steps:$steps"

# The last layer takes the rows of which something is wanted, by two kernels within it. Behind it are a norm of two kernels
# and the vocabulary's matrix.
decode=$(graph_of bench "$steps")
"$rtl" graph show --layers --json bench.db "$decode" >layers.json
equal "layers of the decode graph" "$(jq '.layers.layers | length' layers.json)" $layers
equal "nodes of the last layer, and behind it" \
    "$(jq -c '[.layers.layers[-1] | .last_node - .first_node + 1] + [.layers.after.nodes | length]' layers.json)" \
    "[$(($(jq .layers.length layers.json) + 2)),3]"

# What that layer takes, by the kernels of its nodes.
read -r first last < <(jq -r '.layers.layers[-1] | "\(.first_node) \(.last_node)"' layers.json)
equal "p50 of the last layer" "$(jq '.layers.layers[-1].time.p50_ns' layers.json)" \
    "$("$rtl" sql bench.db "SELECT max(end) - min(start) AS ns FROM kernels WHERE graph = $decode AND node BETWEEN $first
        AND $last GROUP BY launch ORDER BY ns LIMIT 1 OFFSET $((steps / 2 - 1))")"

# Two GPUs that share each matrix: both launch a graph up to each sum over them, of which a layer has two, and one
# behind the last.
SOFTGPU_DEVICES=2 recorded tensor "${bench[@]}" -sm tensor
parts=$((2 * (2 * layers + 1)))
equal "prefills and tokens of two GPUs" "$(phases tensor)" \
    "$rounds:$((parts * rounds)) $steps:$((parts * steps))"

# Prefills in turn with tokens are in no graph, nor is the first token behind one; they are in no step.
recorded mixed llama-bench -m "$model" -ngl 99 -p 0 -n 0 -pg "$prompt,$tokens" -r "$rounds"
equal "tokens between prefills" "$(phases mixed)" "$((steps - rounds)):$((steps - rounds))"
no_prefill_in_tokens mixed

# A request: the prompt brings the first token, and of the second llama.cpp makes no graph yet.
recorded request llama-completion -m "$model" -ngl 99 -p "w1 w2 w3 w4 w5" -n 24 --ignore-eos --temp 0 -no-cnv \
    --no-warmup
equal "tokens of a request" "$(phases request)" "22:22"

# Requests to a server, in turn: the same of each.
recorded server python3 "$here/tests/rocm/llama_requests.py" "$model" "$tokens" "$rounds"
equal "tokens of requests" "$(phases server)" "$((steps - 2 * rounds)):$((steps - 2 * rounds))"
no_prefill_in_tokens server
for name in bench tensor mixed request server; do
    "$rtl" steps "$name.db"
done
