# shellcheck shell=bash
# Shared by the scripts of tests; sourced.

# rocr_of PROGRAM: the release of ROCr's library that it gets (5 with HIP 5.2, 13 with 5.7, 15 with 6.4, 18 with 7.2); 5 if that
# cannot be told.
rocr_of() {
    local library release
    library=$(ldd "$1" 2>/dev/null | sed -n 's/.*libhsa-runtime64.* => \(.*\) (.*/\1/p')
    release=$(readlink -f "$library" | sed -n 's/.*\.so\.1\.\([0-9]*\)\..*/\1/p')
    echo "${release:-5}"
}
