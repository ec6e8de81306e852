#!/usr/bin/env bash
# Only the environment is set, no `rtl trace`: the library starts its collector itself, one trace per process.
source "$(dirname "$0")/lib.sh"
export SOFTGPU_DURATION=1000 LD_LIBRARY_PATH=$build/lib/softgpu RTL_MODE=full

HSA_TOOLS_LIB=$build/lib/librtl.so RTL_OUTPUT=$scratch/file-%p.db "$bin/outcome" end "$bin/ends" fork-first >run.out 2>run.err
equal "end of the program" "$(cat end)" "exit 0"

# The collector ends by itself when it has seen the end of the process.
for file in file-*.db; do
    for ((i = 0; i < 100; i++)); do
        "$rtl" check "$file" >check.out 2>check.err && break
        sleep 0.1
    done
    "$rtl" check "$file" >check.out 2>check.err || fail "rtl check $file ended with status $?"
    equal "kernels in $file" "$(ask "$file" 'SELECT count(*) FROM kernels')" 100
done
traces=(file-*.db)
equal "traces" ${#traces[@]} 2
[ ! -s run.err ] || fail "something was printed on stderr"

# An existing file is never overwritten.
cp "${traces[0]}" mine.db
sum=$(sha256sum mine.db)
HSA_TOOLS_LIB=$build/lib/librtl.so RTL_OUTPUT=$scratch/mine.db "$bin/outcome" end "$bin/ends" shut-down >run.out 2>run.err
equal "end of the program whose output exists" "$(cat end)" "exit 0"
sleep 1
equal "existing file" "$(sha256sum mine.db)" "$sum"
