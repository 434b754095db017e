# shellcheck shell=bash
# Sourced by every script here: strict mode, the project's root as the working directory, and functions.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

# Prints what runs next, and the seconds since the script's start.
step() {
    printf '\n== %s (%s s so far)\n' "$*" "$SECONDS"
}

# Ends a script that misses a tool. To the caller 77 means skipped, and never passed.
skip() {
    printf 'skipped: %s\n' "$*" >&2
    exit 77
}

# Installs the Debian packages that are missing.
need_packages() {
    local missing=()
    for package in "$@"; do
        dpkg-query -W -f='${Status}' "$package" 2>/dev/null | grep -q 'install ok installed' || missing+=("$package")
    done
    [ ${#missing[@]} -eq 0 ] && return
    command -v apt-get >/dev/null || skip "needs ${missing[*]}, and there is no apt-get to install them with"
    local root=()
    [ "$(id -u)" -eq 0 ] || root=(sudo)
    # Scripts that run beside each other do not install at the same time.
    local lock
    exec {lock}>"${TMPDIR:-/tmp}/ondeck-packages.lock"
    flock "$lock"
    "${root[@]}" apt-get update -qq
    DEBIAN_FRONTEND=noninteractive "${root[@]}" apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
    exec {lock}>&-
}

# Installs the compiler's target that is missing.
need_target() {
    rustup target list --installed 2>/dev/null | grep -qx "$1" || rustup target add "$1" ||
        skip "cannot install the target $1"
}
