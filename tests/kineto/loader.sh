#!/usr/bin/env bash
# loader.sh BUILD: which libraries the loader loads, in which order, and what it says of the others.
source "$(dirname "$0")/../e2e/lib.sh"
lib=$build/tests/lib/kineto
export HOME=$scratch/home
unset KINETO_PLUGIN_PATH

loads() {
    env "$@" "$bin/kineto_loads" >run.out 2>run.err || fail "the loader's program ended with status $?"
    nothing_said run.err
}
vendors() {
    sed -n 's/^vendor \([^ ]*\) .*/\1/p' run.out | paste -sd ' '
}
# said SEVERITY TEXT: one sentence that has the text.
said() {
    [ "$(grep -c "^$1: .*$2" run.out)" = 1 ] || fail "'$2' is not said once, as a $1"
}
nothing_else_said() {
    equal "warnings and faults" "$(grep -c -E '^(warning|fault): ' run.out)" "$1"
}

# Unset, or empty: nothing is looked at, the standard folders included.
mkdir -p home/.local/lib/kineto/plugins
cp "$lib/fake_plain.so" home/.local/lib/kineto/plugins/
loads KINETO=1
[ ! -s run.out ] || fail "without KINETO_PLUGIN_PATH something happened"
loads KINETO_PLUGIN_PATH=
[ ! -s run.out ] || fail "with an empty KINETO_PLUGIN_PATH something happened"
strace_of=$(command -v strace || true)
if [ -n "$strace_of" ] && strace -o /dev/null true 2>/dev/null; then
    strace -f -e trace=open,openat -o opened "$bin/kineto_loads"
    ! grep -q plugins opened || fail "without KINETO_PLUGIN_PATH a folder was opened"
fi

# Set: what it names, then the standard folders.
loads KINETO_PLUGIN_PATH="$lib/fake_second.so"
equal "vendors" "$(vendors)" "second plain"
nothing_else_said 0
rm -r home/.local

loads KINETO_PLUGIN_PATH="$scratch/is-not-there.so"
equal "vendors" "$(vendors)" ""
said warning "is-not-there.so could not be loaded: No such file"
nothing_else_said 1

head -c 4096 /dev/urandom >junk.so
loads KINETO_PLUGIN_PATH="$scratch/junk.so"
equal "vendors" "$(vendors)" ""
said warning "junk.so could not be loaded"
nothing_else_said 1
: >empty.so
loads KINETO_PLUGIN_PATH="$scratch/empty.so"
said warning "empty.so could not be loaded"

loads KINETO_PLUGIN_PATH="$lib/fake_no_entry.so"
equal "vendors" "$(vendors)" ""
said warning "it has no kineto_register_privateuse1_plugin"
nothing_else_said 1

loads KINETO_PLUGIN_PATH="$lib/fake_no_version.so"
equal "vendors" "$(vendors)" ""
said fault "it has no pu1GetVersion"
nothing_else_said 1

# Another major: it is not even registered.
loads KINETO_PLUGIN_PATH="$lib/fake_major.so"
equal "vendors" "$(vendors)" ""
said fault "is for version 2.1 of PrivateUse1 tracing, and this is 1.1"
! grep -q registered run.out || fail "a library of another major was registered"
nothing_else_said 1

loads KINETO_PLUGIN_PATH="$lib/fake_minor.so"
equal "vendors" "$(vendors)" minor
grep -q "^vendor minor 1\.9 $lib/fake_minor.so$" run.out || fail "the version of a newer minor"
nothing_else_said 0

# A table of version 1.0, which is shorter.
loads KINETO_PLUGIN_PATH="$lib/fake_old.so"
equal "vendors" "$(vendors)" old
equal "those who tell of devices" "$(grep -c ' tells of its devices$' run.out || true)" 0
grep -q "^vendor old 1\.0 $lib/fake_old.so$" run.out || fail "the version of an older minor"
nothing_else_said 0

loads KINETO_PLUGIN_PATH="$lib/fake_refuses.so"
equal "vendors" "$(vendors)" ""
said warning "does not register (kineto_register_privateuse1_plugin returned 7)"
nothing_else_said 1

loads KINETO_PLUGIN_PATH="$lib/fake_half.so"
equal "vendors" "$(vendors)" ""
said fault "without all of its functions"

# The same file by other names, and in a folder as well: once.
mkdir folder
ln "$lib/fake_plain.so" folder/hard.so 2>/dev/null || cp "$lib/fake_plain.so" folder/hard.so
ln -s hard.so folder/link.so
cp "$lib/fake_second.so" folder/a_second.so
echo text >folder/readme.txt
mkdir folder/deeper.so
loads KINETO_PLUGIN_PATH="folder/hard.so:$scratch/folder/link.so:./folder/hard.so::folder"
equal "vendors" "$(vendors)" "plain second"
equal "loads" "$(grep -c '^loaded plain' run.out)" 1
equal "registrations" "$(grep -c '^registered plain' run.out)" 1
nothing_else_said 1 # deeper.so is no file
rmdir folder/deeper.so

# A folder is in the order of its names, whatever that of its entries.
rm folder/*.so
cp "$lib/fake_plain.so" folder/3.so
cp "$lib/fake_second.so" folder/1.so
cp "$lib/fake_minor.so" folder/2.so
loads KINETO_PLUGIN_PATH=folder
equal "vendors" "$(vendors)" "second minor plain"

# A bad first entry costs nobody else anything.
loads KINETO_PLUGIN_PATH="$scratch/junk.so:$lib/fake_major.so:$lib/fake_plain.so"
equal "vendors" "$(vendors)" plain
nothing_else_said 2

# Real ones.
loads KINETO_PLUGIN_PATH="$build/lib/kineto:$build/lib/librtl.so"
equal "vendors" "$(vendors)" "OpenReg RTL"
equal "those who tell of devices" "$(grep -c ' tells of its devices$' run.out)" 2
