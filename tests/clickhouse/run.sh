#!/usr/bin/env bash
# load.sh BUILD TEST.py: runs a test of ClickHouse in a folder of its own.
set -euo pipefail
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
/usr/bin/python3 "$(dirname "$0")/$2" "$1" "$scratch"
