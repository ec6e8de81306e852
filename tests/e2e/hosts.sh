# shellcheck shell=bash
# Hosts that are namespaces of this machine, with a network, a name and a boot_id of their own. Sourced in a folder that others do
# not use, in namespaces of networks and mounts of its own (unshare -nm), through which the hosts reach each other. They end
# with the script. Skipped, 77, where they cannot be made.
command -v ip >/dev/null || { echo "no ip here (iproute2): skipped" && exit 77; }
unshare -nmu true 2>/dev/null || { echo "no namespaces here: skipped" && exit 77; }
echo 1 >/proc/sys/net/ipv4/ip_forward 2>/dev/null || { echo "no forwarding here: skipped" && exit 77; }
mkfifo alive
exec 9<>alive
keepers=()

# host N NAME [NAME of host 1]: a host with the address 10.77.N.2. Its own name is for itself that of its loopback, as on Debian.
host() {
    unshare -nmu cat <alive 9>&- &
    keepers[$1]=$!
    until [ "$(readlink "/proc/$!/ns/uts")" != "$(readlink /proc/self/ns/uts)" ]; do sleep 0.01; done
    ip link add "to$1" type veth peer name eth0 netns "$!"
    ip addr add "10.77.$1.1/24" dev "to$1"
    ip link set "to$1" up
    printf '%s\n' "$1$1$1$1$1$1$1$1-1111-4111-8111-111111111111" >"boot.$1"
    printf '127.0.0.1 localhost\n127.0.1.1 %s\n' "$2" >"hosts.$1"
    [ -z "${3:-}" ] || echo "10.77.1.2 $3" >>"hosts.$1"
    in_host "$1" bash -c "hostname $2
        ip link set lo up && ip link set eth0 up && ip addr add 10.77.$1.2/24 dev eth0 && ip route add default via 10.77.$1.1
        mount --bind boot.$1 /proc/sys/kernel/random/boot_id && mount --bind hosts.$1 /etc/hosts"
}

# in_host N COMMAND…
in_host() {
    nsenter -t "${keepers[$1]}" -n -m -u --wd="$PWD" "${@:2}" 9>&-
}

# is_host PID: it is what a host is kept by.
is_host() {
    [[ " ${keepers[*]} " = *" $1 "* ]]
}
