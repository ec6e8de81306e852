#!/usr/bin/env bash
# layers.sh: script/layers finds what it is for, each in a small tree of its own that is right but for one thing.
set -euo pipefail
layers=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)/script/layers
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch"

fail() {
    echo "layers.sh: $1" >&2
    [ ! -f out ] || cat out >&2
    exit 1
}

# A tree of two folders, of which the upper one calls the lower.
plant() {
    rm -rf tree
    mkdir -p tree/src/low tree/src/high tree/build/src/low tree/build/src/high
    printf '%s\n' '## Layers' '' '| folder | uses |' '|---|---|' '| `src/low` | |' '| `src/high` | `src/low` |' >tree/CONTRIBUTING.md
    echo 'int rtl_low(void);' >tree/src/low/low.h
    echo 'int rtl_high(void);' >tree/src/high/high.h
    printf '%s\n' '#include "low/low.h"' 'int rtl_low(void) { return 1; }' >tree/src/low/low.c
    printf '%s\n' '#include "high/high.h"' '#include "low/low.h"' 'int rtl_high(void) { return rtl_low(); }' >tree/src/high/high.c
}

compile() {
    local name commands=
    for name in low high; do
        cc -fvisibility=hidden -Itree/src -o "tree/build/src/$name/$name.o" -c "tree/src/$name/$name.c"
        commands+="${commands:+,}{\"directory\":\"$scratch/tree/build\",\"file\":\"$scratch/tree/src/$name/$name.c\","
        commands+="\"command\":\"cc -o src/$name/$name.o -c\"}"
    done
    echo "[$commands]" >tree/build/compile_commands.json
}

# finds SENTENCE: the tree as it is now is refused, with this sentence.
finds() {
    compile
    ! "$layers" --root "$scratch/tree" build >out 2>&1 || fail "nothing found, want '$1'"
    grep -qxF "layers: $1" out || fail "want '$1', got:"
}

plant
compile
"$layers" --root "$scratch/tree" build >out 2>&1 || fail "a tree that is right is refused"
# The same, with whole paths, as CMake 4 has them.
sed -i 's,"command":"cc -o \(src/[^ ]*\),"output":"'"$scratch"'/tree/build/\1"\,&,g' tree/build/compile_commands.json
"$layers" --root "$scratch/tree" build >out 2>&1 || fail "a tree that is right is refused with whole paths"

plant
sed -i '1i #include "high/high.h"' tree/src/low/low.c
finds "src/low/low.c includes src/high/high.h, but src/low may not use src/high"

# The same header, found by the include path.
plant
sed -i '1i #include <high/high.h>' tree/src/low/low.c
finds "src/low/low.c includes src/high/high.h, but src/low may not use src/high"

# What is outside.
plant
mkdir tree/tests
echo 'int outside;' >tree/tests/outside.h
sed -i '1i #include "../../tests/outside.h"' tree/src/low/low.c
finds "src/low/low.c includes tests/outside.h, which is no part of the product"

# A declaration of its own hides the use from who reads includes.
plant
echo 'int rtl_high(void); int rtl_again(void); int rtl_again(void) { return rtl_high(); }' >>tree/src/low/low.c
finds "src/low/low.c uses rtl_high of src/high/high.c, but src/low may not use src/high"

plant
mkdir tree/src/other
: >tree/src/other/other.c
finds "src/other/other.c: no row of CONTRIBUTING.md's table has its folder"

plant
sed -i '/low.h/d; s/rtl_low()/1/' tree/src/high/high.c
finds "CONTRIBUTING.md: src/high uses nothing of src/low"

plant
sed -i 's/^| `src\/low` | |$/| `src\/low` | `src\/high` |/' tree/CONTRIBUTING.md
finds "$scratch/tree/CONTRIBUTING.md: 'src/low' uses 'src/high', which does not stand above it"

plant
echo '| `src/gone` | |' >>tree/CONTRIBUTING.md
finds "$scratch/tree/CONTRIBUTING.md: there is no folder 'src/gone'"

plant
mkdir tree/docs
echo 'no picture' >tree/docs/architecture.md
finds "docs/architecture.md: its picture is not what script/layers --picture prints"

# Files that the README.md of their folder, or of one above, does not name, and names without a file.
plant
echo 'Does `low`.' >tree/src/low/README.md
compile
"$layers" --root "$scratch/tree" build >out 2>&1 || fail "a README.md that is right is refused"
: >tree/src/low/more.c
finds "src/low/more.c: no README.md of its folder names it"

plant
mkdir tree/src/low/below
: >tree/src/low/below/deep.h
echo 'Does `low.c`, and `gone.c`, but no `other/far.c`.' >tree/src/low/README.md
finds "src/low/below/deep.h: no README.md of its folder names it"
grep -qxF "layers: src/low/README.md: there is no gone.c" out || fail "want no gone.c, got:"
! grep -q far.c out || fail "a file of another folder is looked for, got:"

# A name without an ending, where a table lists files; elsewhere it may be anything's.
plant
printf '%s\n' 'Does `anything` for `others`.' '| | |' '|---|---|' '| `low`, `gone*` | `nothing` |' '| `stale` | |' >tree/src/low/README.md
finds "src/low/README.md: there is no file stale"
grep -qxF 'layers: src/low/README.md: there is no file gone*' out || fail "want no gone*, got:"
! grep -q 'anything\|nothing\|others' out || fail "a name that is no file's is looked for, got:"

# A line that is too long, and where one may be.
plant
long=$(printf '%0120d' 0)
printf '%s\n' "$long" "| ${long} |" '```' "${long}1" '```' "    ${long}" "$long é" >tree/docs.md
finds "docs.md:7: 122 characters, more than 120"
[ "$(grep -c 'docs.md' out)" = 1 ] || fail "one line is too long, got:"
