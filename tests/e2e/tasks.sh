#!/usr/bin/env bash
# tasks.sh BUILD PAGE: types what docs/tasks.md has typed, on the software GPU and in the page's order. Each command ends as
# the page says, what it prints has the page's words in the page's order, and the numbers that it prints are those of the
# software GPU's log, of the demo itself, or of what was planted (tasks.py).
source "$(dirname "$0")/lib.sh"
page=$1
# The way in is the one that a user gets; the page's traces stand in its folder.
unset RTL_QUEUE RANK
export SOFTGPU_PLUGINS=$build/lib/softgpu/decode_plugin.so SOFTGPU_TRUTH=$scratch/truth.%p NO_COLOR=1
mkdir path
ln -s "$build" build
ln -s "$build/bin/rtl-demo-decode" path/

# As rtl, where there is no GPU; and of the recordings under way on this machine it sees the page's alone.
cat >path/rtl <<END
#!/usr/bin/env bash
case \${1:-} in
trace)
    echo \$\$ >$scratch/recorder
    exec $rtl trace --gpu soft "\${@:2}" ;;
ctl)
    [ -s $scratch/recorder ] && program=\$(pgrep -P "\$(<$scratch/recorder)") || exit 1
    session=\$($rtl ctl status --json | jq -r ".[] | select(.pid == \$program) | .session")
    [ "\$session" ] || exit 1
    exec $rtl ctl "\${@:2}" "\$session" ;;
*) exec $rtl "\$@" ;;
esac
END
chmod +x path/rtl

mkdir typed
/usr/bin/python3 "$here/tasks.py" split "$page" typed
cp typed/*.py .
(
    PATH=$scratch/path:$PATH
    again() { return "$1"; }
    set +e
    status=0
    for command in typed/*.command; do
        text=$(<"$command")
        # The server keeps both processors busy until it is killed.
        [ -z "${RTL_TEST_BRIEF:-}" ] || text=${text/ctl record 10s/ctl record 2s}
        { again "$status"; eval "$text"; } >"${command%.command}.out" 2>&1
        status=$?
        echo $status >"${command%.command}.status"
    done
)
without_remarks typed/*.out
/usr/bin/python3 "$here/tasks.py" compare "$page" typed || fail "the page is not what is printed"
/usr/bin/python3 "$here/tasks.py" truth "$page" typed "$rtl" "$build/bin/softgpu-run" || fail "what is printed is not so"
