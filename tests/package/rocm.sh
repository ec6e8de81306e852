#!/usr/bin/env bash
# rocm.sh SOURCES: script/rocm with an archive of its own making, in place of Debian's: a root is one shell. Mistakes are
# answered; a root is made once, whole or not at all, by one of those who want it; what runs there has the sources, read
# only, and a build folder of its own; and whoever is killed leaves no process, no mount and no lock.
set -euo pipefail
source "$(dirname "$0")/../common/within.sh"
sources=$1
scratch=$(mktemp -d)
trap 'rm -rf --one-file-system "$scratch"' EXIT
cd "$scratch"

fail() {
    echo "FAILED: $*" >&2
    tail -n 20 ./*.out ./*.err tree/build/rocm/*/log >&2 2>/dev/null || true
    exit 1
}

# wrong WORD... -- COMMAND...: ends with status 125, in a sentence that has the words.
wrong() {
    local words=() word status=0
    while [ "$1" != -- ]; do
        words+=("$1")
        shift
    done
    shift
    "$@" >wrong.out 2>wrong.err || status=$?
    [ $status -eq 125 ] || fail "'$*' ended with status $status, not 125"
    for word in "${words[@]}"; do
        grep -q -F -e "$word" wrong.err || fail "'$*' does not say '$word'"
    done
}

equal() {
    [ "$2" = "$3" ] || fail "$1: '$2', not '$3'"
}

# A tree with the script and the things that it stands on; bootstrap does as a file says that lies beside it.
mkdir -p tree/script bin
cp "$sources"/script/{rocm,common.sh} tree/script/
cp "$sources/CMakePresets.json" tree/
cat >tree/script/bootstrap <<'EOF'
#!/bin/sh
. script/behaviour
EOF
chmod +x tree/script/bootstrap
echo : >tree/script/behaviour
rocm=$scratch/tree/script/rocm

cat >bin/apt-get <<'EOF'
#!/bin/sh
[ "$1" != indextargets ] || echo "Debian Debian main http://nowhere.invalid/debian/"
EOF
cat >bin/debootstrap <<EOF
#!/usr/bin/env bash
set -e
echo "\$*" >>"$scratch/calls"
[ "\$2" != nosuch ] || { printf "%s\n" "E: no such suite" "W: See its log" >&2; exit 1; }
at=\$3
mkdir -p "\$at"/{bin,dev,etc/apt/apt.conf.d,etc/dpkg/dpkg.cfg.d,proc,run,sys,tmp,usr/bin,usr/sbin}
cp -L /bin/sh "\$at/bin/sh"
for library in \$(ldd /bin/sh | grep -o '/[^ ]*'); do
    mkdir -p "\$at\${library%/*}"
    cp -L "\$library" "\$at\$library"
done
printf '#!/bin/sh\n' >"\$at/usr/bin/apt-get"
chmod +x "\$at/usr/bin/apt-get"
EOF
chmod +x bin/*

# Mistakes need neither root nor tools.
wrong "no suite" "script/rocm SUITE COMMAND" -- "$rocm"
wrong "'--frob'" "script/rocm SUITE COMMAND" -- "$rocm" --frob
wrong "'../there'" "no name of a suite" -- "$rocm" ../there true
wrong "no command" -- "$rocm" one
wrong "too many arguments" -- "$rocm" --versions one two
"$rocm" --help | grep -q "GB of disk" || fail "--help does not say what a root takes"
[ ! -e tree/build ] || fail "a mistake has made a folder"

if [ "$(id -u)" -ne 0 ]; then
    wrong "only root" -- "$rocm" one true
    echo "the rest needs root"
    exit 77
fi
chmod 755 "$scratch"
wrong "only root" -- setpriv --reuid 65534 --regid 65534 --clear-groups "$rocm" one true
unshare --mount --pid --fork true 2>/dev/null || {
    wrong "namespace" -- "$rocm" one true
    echo "the rest needs namespaces"
    exit 77
}

# Nothing is there but what the script needs before it asks for debootstrap.
mkdir few
for tool in apt-config awk bash cat dirname env flock id mkdir nproc rm sed sha256sum unshare true; do
    ln -s "$(type -P $tool)" few/$tool
done
wrong "debootstrap is not installed" "script/bootstrap --rocm" -- env PATH="$scratch/few" "$rocm" one true
printf '#!/bin/sh\n' >few/apt-get
chmod +x few/apt-get
ln -s ../bin/debootstrap few/debootstrap
wrong "no Debian archive" -- env PATH="$scratch/few" "$rocm" one true
export PATH=$scratch/bin:$PATH

made() {
    wc -l <calls
}
: >calls

# A suite that cannot be had, and one in which something fails.
wrong "no root of nosuch" "no such suite" -- "$rocm" nosuch true
cp -r tree "t ree"
wrong "blanks in its path" "t ree" -- "t ree/script/rocm" one true
rm -r "t ree"
echo 'echo "apt has no HIP here"; exit 1' >tree/script/behaviour
wrong "no root of one" "no HIP" -- "$rocm" one true
[ ! -e tree/build/rocm/one/root ] || fail "a root that failed is there"
echo : >tree/script/behaviour
: >calls

# Made once; the command's status, folder, arguments and input are its own.
status=0
echo input | HIDDEN=1 RTL_JOBS=3 "$rocm" one sh -c 'read -r line; echo "$line|$PWD|$1|$RTL_JOBS|${HIDDEN-}"; exit 7' - 'a b' >one.out 2>one.err || status=$?
equal "the status" $status 7
equal "what the command sees" "$(cat one.out)" "input|$scratch/tree|a b|3|"
"$rocm" one sh -c : 2>one.err
equal "roots made for two commands" "$(made)" 1
[ ! -s one.err ] || fail "a root that is there is announced"

# The base of experimental is sid.
"$rocm" experimental sh -c : 2>one.err
equal "what is below experimental" "$(tail -n 1 calls | grep -o -w 'sid .*/root.part')" "sid $scratch/tree/build/rocm/experimental/root.part"
grep -q ' experimental main$' tree/build/rocm/experimental/root/etc/apt/sources.list || fail "experimental is no source of its root"
grep -q 'Check-Valid-Until "false"' tree/build/rocm/one/root/etc/apt/apt.conf.d/90rtl || fail "the root heeds an archive's valid-until"

# The sources cannot be written to; build/ is the suite's.
echo here >tree/build/here
"$rocm" one sh -c ': >script/new' 2>one.err && fail "the sources can be written to"
"$rocm" one sh -c 'test ! -e build/here && test -e /rtl-build/here && echo there >build/there' || fail "build/ is not the suite's own"
equal "what was built there" "$(cat tree/build/rocm/one/build/there)" there
[ ! -e tree/build/there ] || fail "the suite builds into this machine's build/"

# Another bootstrap makes another root.
echo '# other packages' >>tree/script/bootstrap
: >calls
"$rocm" one sh -c : 2>one.err
equal "roots made for another bootstrap" "$(made)" 1

# Two at once: one makes it, the other waits for that.
"$rocm" --remove one
echo 'echo >/tmp/x; n=0; while [ $n -lt 100000 ]; do n=$((n + 1)); done' >tree/script/behaviour
: >calls
for who in a b; do
    "$rocm" one sh -c 'echo done' >$who.out 2>$who.err &
done
wait
equal "roots made by two at once" "$(made)" 1
equal "what both say" "$(cat a.out b.out | tr '\n' ' ')" "done done "

# What is left of one that was killed, while it made a root and while a command ran: nothing.
nothing_left() {
    local mounts inside
    mounts=$(grep -s -l "$scratch" /proc/[0-9]*/mountinfo || true)
    inside=$(find /proc/[0-9]*/root -maxdepth 0 -lname "$scratch/*" 2>/dev/null || true)
    [ -z "$mounts$inside" ] && ! pgrep -f "$scratch/tree/script/rocm" >/dev/null
}
# `build/` is where a command in the root can say that it has begun.
begun=tree/build/rocm/one/build/begun
for signal in KILL TERM; do
    "$rocm" --remove one
    echo 'echo >build/begun; read -r forever </dev/zero' >tree/script/behaviour
    "$rocm" one sh -c : 2>killed.err &
    within 60 test -e $begun || fail "no root is being made"
    kill -s $signal $!
    wait $! && fail "one that was killed by SIG$signal ended well"
    within 60 nothing_left || fail "something is left of a root that was not finished (SIG$signal)"
    [ ! -e tree/build/rocm/one/root ] || fail "a half-made root is taken for a whole one"

    echo : >tree/script/behaviour
    "$rocm" one sh -c : 2>one.err || fail "a half-made root is in the way"
    rm -f $begun
    "$rocm" one sh -c 'echo >build/begun; read -r forever </dev/zero' 2>killed.err &
    within 60 test -e $begun || fail "the command does not run"
    wrong "in use" -- "$rocm" --remove one
    kill -s $signal $!
    wait $! && fail "one that was killed by SIG$signal ended well"
    within 60 nothing_left || fail "something is left of a command (SIG$signal)"
done
"$rocm" --remove one
[ ! -e tree/build/rocm/one ] || fail "a root that was removed is there"
