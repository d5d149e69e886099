#!/usr/bin/env bash
# bootstrap.sh [build|check|ci]: sees to it that the packages of packages.txt are
# there. On Debian and its kin it installs what is missing; elsewhere it names
# the packages. Each role includes the ones before it.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

role=${1:-build}
case $role in
    build) roles='build' ;;
    check) roles='build|check' ;;
    ci) roles='build|check|ci' ;;
    *) echo "usage: $0 [build|check|ci]" >&2; exit 2 ;;
esac

# The names in column $1 of the table.
packages() { awk -v c="$1" -v r="^($roles)\$" '$1 ~ r && $c != "-" { print $c }' packages.txt; }

# Are the tools of the build there, wherever they came from?
tools_found() {
    local tool
    for tool in cc make cmake pkg-config; do
        command -v "$tool" > /dev/null || return 1
    done
    pkg-config --exists zlib libzip expat || return 1
    pkg-config --exists openblas || pkg-config --exists cblas || pkg-config --exists blas ||
        echo '#include <cblas.h>' | cc -E - > /dev/null 2>&1
}

# $1: what went wrong. Goes on if it does no harm.
give_up() {
    if [ "$role" != ci ] && tools_found; then
        exit 0
    fi
    {
        echo "$1 To build libcombinex, install:"
        local column=2 manager
        for manager in 'apt-get install' 'dnf install' 'pacman -S' 'brew install'; do
            # shellcheck disable=SC2046 # one line of names
            echo "  $manager" $(packages $column)
            column=$((column + 1))
        done
    } >&2
    exit 1
}

command -v apt-get > /dev/null || give_up "Something is missing, and this system has no apt-get."

missing=()
for package in $(packages 2); do
    status=$(dpkg-query -W -f '${db:Status-Status}' "$package" 2> /dev/null || true)
    # several architectures of one package give several words
    case $status in installed*) ;; *) missing+=("$package") ;; esac
done
[ ${#missing[@]} -gt 0 ] || exit 0

sudo=()
if [ "$(id -u)" -ne 0 ]; then
    command -v sudo > /dev/null || give_up "Missing: ${missing[*]}; installing takes root or sudo."
    sudo=(sudo)
fi

echo "Installing ${missing[*]}"
log=$(mktemp)
trap 'rm -f "$log"' EXIT
apt() {
    ${sudo[@]+"${sudo[@]}"} env DEBIAN_FRONTEND=noninteractive \
        apt-get -qq -o Dpkg::Use-Pty=0 -o DPkg::Lock::Timeout=120 "$@" >> "$log" 2>&1
}
# A failed update may still leave usable lists: what counts is the installation.
apt update || true
# One unknown name would keep the others from being installed: not every kin of Debian has
# each of them, and tests that miss something are skipped.
known=()
for package in "${missing[@]}"; do
    if apt-cache show "$package" > /dev/null 2>&1; then
        known+=("$package")
    else
        echo "There is no package $package here: going on without"
    fi
done
[ ${#known[@]} -gt 0 ] || give_up "Missing: ${missing[*]}."
apt install -y --no-install-recommends "${known[@]}" || {
    tail -n 15 "$log" >&2
    give_up "apt-get could not install ${known[*]} (no network?)."
}
