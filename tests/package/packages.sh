#!/usr/bin/env bash
# packages.sh BUILD PYTHON SOFTGPU: the wheel, the Debian package and the tarball, unpacked where nothing else of RTL is: the command
# runs and records on the software GPU, and the module reads what it has recorded. What a wheel says of its files is true, and it
# asks for no newer glibc than it needs.
set -euo pipefail
build=$1 python=$2 softgpu=$3
here=$(cd "$(dirname "$0")" && pwd)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch"
unset HSA_TOOLS_LIB LD_LIBRARY_PATH LD_PRELOAD PYTHONPATH RTL_READER
export PYTHONDONTWRITEBYTECODE=1

fail() {
    echo "FAILED: $*" >&2
    exit 1
}

# works NAME COMMAND...: rtl, in whichever package.
works() {
    local name=$1
    shift
    grep -q '^rtl [0-9]' <("$@" --version) || fail "$name: $("$@" --version)"
    [ "$softgpu" = OFF ] && return
    SOFTGPU_PLUGINS=$build/tests/lib/e2e_plugin.so "$@" trace -q -m full --gpu soft -o "$name.db" -- \
        "$build/tests/bin/hsa_storm" --dispatches 500 >out || fail "$name: rtl trace ended with status $?"
    grep -q '^complete: 500 of 500 kernels' <("$@" check "$name.db") || fail "$name: $("$@" check "$name.db" | head -n 1)"
}

# reads NAME MODULE: the Python module of a package.
reads() {
    [ "$softgpu" = OFF ] && return
    [ "$(PYTHONPATH=$2 "$python" -c 'import rtl, sys; print(len(rtl.open(sys.argv[1]).kernels(["id"])))' "$1.db")" = 500 ] ||
        fail "$1: the Python module"
}

"$here/../../script/wheel" -o wheels "$build" >path || fail "script/wheel ended with status $?"
"$python" - "$(cat path)" <<'END' || fail "the wheel is not what it says"
import base64, csv, hashlib, io, re, subprocess, sys, zipfile
wheel = zipfile.ZipFile(sys.argv[1])
names = wheel.namelist()
info = next(name for name in names if name.endswith("/RECORD"))
for name, sum_, size in csv.reader(io.StringIO(wheel.read(info).decode())):
    data = wheel.read(name)
    names.remove(name)
    good = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
    assert name == info or (sum_ == "sha256=" + good and int(size) == len(data)), name
assert not names, names
tag = re.search(r"^Tag: (py3-none-manylinux_(\d+)_(\d+)_\w+)$", wheel.read(info.replace("RECORD", "WHEEL")).decode(), re.M)
assert sys.argv[1].endswith(f"-{tag[1]}.whl"), tag
own = subprocess.run(["getconf", "GNU_LIBC_VERSION"], capture_output=True, text=True, check=True).stdout.split()[1].split(".")
assert (int(tag[2]), int(tag[3])) <= tuple(map(int, own)), (tag, own)
for entry in wheel.infolist():  # as pip does, with the modes
    path = wheel.extract(entry, "site")
    import os
    os.chmod(path, entry.external_attr >> 16 or 0o644)
END
cat >rtl-wheel <<END
#!/bin/sh
PYTHONPATH=$scratch/site exec "$python" -c 'import sys; from rtl._command import main; main()' "\$@"
END
chmod +x rtl-wheel
works wheel ./rtl-wheel
reads wheel site

for generator in DEB TGZ; do
    cpack -G $generator --config "$build/CPackConfig.cmake" -B "$scratch/made" >cpack.out 2>&1 || { cat cpack.out >&2 && fail "cpack -G $generator"; }
done
dpkg-deb -x made/*.deb deb
[ "$(dpkg-deb -f made/*.deb Version)" = "$("$build/bin/rtl" --version | cut -d ' ' -f 2)" ] || fail "the version of the package"
grep -q 'libsqlite3-0' <(dpkg-deb -f made/*.deb Depends) || fail "the package depends on $(dpkg-deb -f made/*.deb Depends)"
works deb deb/usr/bin/rtl
reads deb deb/usr/lib/python3/dist-packages
tar xf made/*.tar.gz
mv rtl-*-Linux elsewhere
works tarball elsewhere/usr/bin/rtl
reads tarball elsewhere/usr/lib/python3/dist-packages

# Errors are told.
! "$here/../../script/wheel" nosuch 2>said || fail "a wheel is made of nothing"
[ "$(wc -l <said)" = 1 ] && grep -q '^wheel: nosuch cannot be installed' said || fail "what is told: $(cat said)"
