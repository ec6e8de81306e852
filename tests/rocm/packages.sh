# What tests in a root of script/rocm share: packages, which are installed once and stay in the root.

apt() {
    DEBIAN_FRONTEND=noninteractive apt-get -q -y -o Acquire::Retries=10 -o Acquire::http::Timeout=120 "$@" </dev/null
}

# install_packages PACKAGE...: unless they are all there.
install_packages() {
    [ "$(dpkg-query -W -f '${db:Status-Status}\n' "$@" 2>/dev/null | grep -cx installed)" != $# ] || return 0
    apt update || true # the packages may be there all the same
    apt --no-install-recommends install "$@"
    apt clean
}
