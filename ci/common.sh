# shellcheck shell=bash
# Sourced by every script here: strict shell, the project's root, and a way to say what runs.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

# Says what runs, and for how long the one before did.
step() {
    printf '\n== %s (%s s so far)\n' "$*" "$SECONDS"
}

# Ends a script whose tool is missing: 77 is "skipped" to the caller, never a pass.
skip() {
    printf 'skipped: %s\n' "$*" >&2
    exit 77
}

# Installs Debian packages that are not there yet.
need_packages() {
    local missing=()
    for package in "$@"; do
        dpkg-query -W -f='${Status}' "$package" 2>/dev/null | grep -q 'install ok installed' || missing+=("$package")
    done
    [ ${#missing[@]} -eq 0 ] && return
    command -v apt-get >/dev/null || skip "needs ${missing[*]}, and there is no apt-get to install them with"
    local root=()
    [ "$(id -u)" -eq 0 ] || root=(sudo)
    "${root[@]}" apt-get update -qq
    DEBIAN_FRONTEND=noninteractive "${root[@]}" apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
}
