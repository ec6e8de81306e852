#!/usr/bin/env bash
# Only the environment is set, no `rtl trace`: the library starts its collector itself, one trace per process.
source "$(dirname "$0")/lib.sh"
export SOFTGPU_DURATION=1000 LD_PRELOAD=$soft RTL_MODE=full

HSA_TOOLS_LIB=$build/lib/librtl.so RTL_OUTPUT=$scratch/file-%p.db "$bin/outcome" end "$bin/ends" fork-first >run.out 2>run.err
equal "end of the program" "$(cat end)" "exit 0"

# The collectors start and end by themselves; on a machine with much to do they take their time.
shopt -s nullglob
for ((i = 0; i < 600; i++)); do
    traces=(file-*.db)
    [ ${#traces[@]} -lt 2 ] || break
    sleep 0.1
done
equal "traces" ${#traces[@]} 2
for file in "${traces[@]}"; do
    for ((i = 0; i < 600; i++)); do
        "$rtl" check "$file" >check.out 2>check.err && break
        sleep 0.1
    done
    "$rtl" check "$file" >check.out 2>check.err || fail "rtl check $file ended with status $?"
    equal "kernels in $file" "$(ask "$file" 'SELECT count(*) FROM kernels')" 100
done
nothing_said run.err

# An existing file is never overwritten.
cp "${traces[0]}" mine.db
sum=$(sha256sum mine.db)
HSA_TOOLS_LIB=$build/lib/librtl.so RTL_OUTPUT=$scratch/mine.db "$bin/outcome" end "$bin/ends" shut-down >run.out 2>run.err
equal "end of the program whose output exists" "$(cat end)" "exit 0"
sleep 1
equal "existing file" "$(sha256sum mine.db)" "$sum"

# Nor is a name that another collector takes at the same time.
for i in {1..12}; do
    HSA_TOOLS_LIB=$build/lib/librtl.so RTL_OUTPUT=$scratch/same.db "$bin/ctl" <<<$i >run.$i.out 2>run.$i.err &
done
wait
for ((i = 0; i < 600; i++)); do
    traces=(same*.db)
    [ ${#traces[@]} -lt 12 ] || break
    sleep 0.1
done
equal "traces of one name" ${#traces[@]} 12
all=0
for file in "${traces[@]}"; do
    for ((i = 0; i < 600; i++)); do
        ! "$rtl" check "$file" >check.out 2>check.err || break
        sleep 0.1
    done
    all=$((all + $(ask "$file" 'SELECT count(*) FROM kernels')))
done
equal "kernels in them" $all $((12 * 13 / 2))
