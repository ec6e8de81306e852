#!/bin/sh
# Usage: rocminfo.sh SOFTGPU_RUN GPUS
# rocminfo must list that many software GPUs.
set -eu
listed=$("$1" --devices="$2" rocminfo | grep -c 'Name: *gfx906 *$')
if [ "$listed" -ne "$2" ]; then
    echo "rocminfo lists $listed GPUs instead of $2" >&2
    exit 1
fi
