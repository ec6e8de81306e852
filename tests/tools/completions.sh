#!/usr/bin/env bash
# What bash completes is what each command's help has: commands and long options, no more and no less. zsh's file and the manual
# have each of them, too.
source "$(dirname "$0")/lib.sh"
source_folder=$2
# shellcheck source=/dev/null
source "$source_folder/tools/completions/rtl.bash"
# What a machine without the package bash-completion has.
unset -f _init_completion _command_offset

# completed WORD...: what follows them, sorted; the last word is begun.
completed() {
    COMP_WORDS=("$@") COMP_CWORD=$(($# - 1)) COMPREPLY=()
    _rtl
    printf '%s\n' "${COMPREPLY[@]}" | LC_ALL=C sort
}

# The long options that a help text explains; --usage and --version are argp's, and not worth completing.
options() {
    sed -n 's/^ *\(-., \)\?\(--[a-z-]*\).*/\2/p' | grep -v -x -e --usage -e --version | LC_ALL=C sort -u
}

commands=$("$rtl" --help | sed -n '/^Commands:/,/^$/s/^  \([a-z]*\) .*/\1/p' | LC_ALL=C sort)
equal "completed commands" "$(completed rtl '' | grep -v '^--')" "$(printf '%s\nhelp\n' "$commands" | LC_ALL=C sort)"
for command in $commands; do
    grep -q "^        '$command:" "$source_folder/tools/completions/_rtl" || fail "zsh does not complete $command"
    grep -q "^\.Xr rtl-$command 1" "$source_folder/docs/man/rtl.1" || fail "rtl(1) does not name rtl-$command"
    grep -q "^\.Nm rtl-$command" "$source_folder/docs/man/rtl-$command.1" || fail "there is no rtl-$command(1)"
done
parts=$("$rtl" graph --help | sed -n '/^Parts:/,/^$/s/^  \([a-z]*\) .*/\1/p' | LC_ALL=C sort)
equal "parts of rtl graph" "$(completed rtl graph '' | grep -v '^--')" "$parts"

check() {
    local wanted option
    wanted=$("$rtl" "$@" --help | options)
    equal "completed options of rtl $*" "$(completed rtl "$@" -- | grep '^--.')" "$wanted"
    for option in $wanted; do
        [ "$option" = --help ] && continue
        grep -q -e "$option" "$source_folder/tools/completions/_rtl" || fail "zsh does not know $option of $*"
        grep -q -e "-${option#--}" "$source_folder/docs/man/rtl-$1.1" || fail "the manual of $* does not have $option"
    done
}
for command in $commands; do
    [ "$command" = graph ] || check "$command"
done
for part in $parts; do
    check graph "$part"
done
equal "what --sort takes" "$(completed rtl graph show t.db --sort '' | xargs)" "cv gap node time"
