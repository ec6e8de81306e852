#!/usr/bin/env bash
# runtimes.sh BUILD FAKE: which runtime there is, and whether RTL has been run on it, as rtl doctor tells it; and a GPU that
# the runtime has and /dev/kfd does not show. FAKE is a runtime with a GPU (fake_hsa.c).
source "$(dirname "$0")/lib.sh"
fake=$2
mkdir lib

# says STATE TOPIC SENTENCE: so does rtl doctor, with the libraries of lib/ in front.
says() {
    LD_LIBRARY_PATH=$scratch/lib "$rtl" doctor --json >doctor.out 2>doctor.err || true
    jq -e --arg state "$1" --arg topic "$2" --arg text "$3" \
        '.findings | any(.state == $state and .topic == $topic and (.finding | contains($text)))' doctor.out >/dev/null ||
        fail "rtl doctor does not say '$3'"
}

# is HSA HIP: the libraries of the runtime have these numbers in their names.
is() {
    rm -f lib/*
    cp "$fake" "lib/libhsa-runtime64.so.$1"
    cp "$fake" "lib/libamdhip64.so.$2"
    [ -e lib/libhsa-runtime64.so.1 ] || ln -s "libhsa-runtime64.so.$1" lib/libhsa-runtime64.so.1
    [ -e lib/libamdhip64.so.7 ] || ln -s "libamdhip64.so.$2" lib/libamdhip64.so.7
}

is 1.5.0 5.2.21153
says ok runtime "ROCr 1.5 (ROCm 5.2): this RTL has been run on it"
says ok hip "HIP 5.2 (ROCm 5.2): this RTL has been run on it"
is 1.18.70204 7.2.53211
says ok runtime "ROCr 1.18 (ROCm 7.2): this RTL has been run on it"
says ok hip "HIP 7.2 (ROCm 7.2): this RTL has been run on it"
is 1.99.0 70.1.0
says note runtime "ROCr 1.99: this RTL has not been run on it"
says note hip "HIP 70.1: this RTL has not been run on it"
is 1 7
says note runtime "does not tell its release"
says note hip "does not tell its release"

# The runtime is asked for its GPU.
says ok runtime "GPU 0: gfx9999"
LD_LIBRARY_PATH=$scratch/lib "$rtl" trace -q --gpu real -o real.db -- true 2>run.err || fail "a GPU of the runtime is none"
LD_LIBRARY_PATH=$scratch/lib "$rtl" trace -q -o auto.db -- true 2>run.err || fail "a GPU of the runtime is none (auto)"
