#!/usr/bin/env bash
# librtl_needs.sh BUILD: librtl.so is loaded into other people's programs, so it links libc's own libraries and
# nothing else.
set -euo pipefail
library=$1/lib/librtl.so
needed=$(objdump -p "$library" | awk '$1 == "NEEDED" { print $2 }')
loaded=$(ldd "$library" | awk '{ print $1 }')
[ -n "$needed" ] || {
    echo "$library names no library at all: objdump's output was not understood" >&2
    exit 1
}
for name in $needed $loaded; do
    case ${name##*/} in
    libc.so.6 | libpthread.so.0 | libdl.so.2 | librt.so.1 | ld-linux-x86-64.so.2 | linux-vdso.so.1) ;;
    *)
        echo "$library needs $name, which is not one of libc's libraries" >&2
        exit 1
        ;;
    esac
done
