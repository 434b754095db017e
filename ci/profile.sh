#!/usr/bin/env bash
# A C program with one hot lock is recorded under the preloaded library: the reports name the lock, its line, the
# function that kept others waiting and those that waited; so they do after a fork, an exec, and a SIGKILL. pprof
# reads the profile. The library has the probes that docs/profile.md names.
source "$(dirname "$0")/common.sh"
need_packages gcc libc6-dev binutils python3
command -v go >/dev/null || need_packages golang-go
programs=crates/ondeck-profile/tests/programs
target=${CARGO_TARGET_DIR:-target}

step "build"
crates/ondeck-preload/link.sh
cargo build --locked -q -p ondeck-profile --example read
library=$(realpath "$target/native/lib/libondeck_preload.so")
reader=$(realpath "$target/debug/examples/read")
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
# As programs of a distribution are: optimized, so that functions which end with an unlock leave no frame.
gcc -O2 -g -Wall -Wextra -Werror -pthread "$programs/hot.c" -o "$folder/hot"

step "probes"
for probe in wait_begin wait_end release; do
    readelf -n "$library" | grep -q "Name: $probe\$" || { echo "$library has no probe ondeck:$probe"; exit 1; }
done

# Records the program with the arguments behind the number of processes that it is to be.
record() {
    local processes=$1 status=0
    shift
    step "hot $*"
    rm -rf "$folder/recording" "$folder/out"
    mkdir "$folder/recording"
    LD_PRELOAD=$library ONDECK_PROFILE=$folder/recording "$folder/hot" "$@" || status=$?
    case $* in
    *kill) [ "$status" -eq 137 ] || { echo "the program ended with $status, not by SIGKILL"; exit 1; } ;;
    *) [ "$status" -eq 0 ] || { echo "the program ended with $status"; exit 1; } ;;
    esac
    "$reader" "$folder/recording" "$folder/out"
    go tool pprof -top "$folder/out/holders.pb.gz" >"$folder/out/top.txt" 2>/dev/null
    python3 ci/profile/check.py "$folder/out" "$processes" "$programs/hot.c"
}
record 1 300
record 2 300 fork
record 2 300 exec
record 1 300 kill

step "without the variable nothing is recorded"
(cd "$folder" && rm -rf recording && mkdir recording && LD_PRELOAD=$library "$folder/hot" 50)
[ -z "$(ls "$folder/recording")" ] || { echo "something was recorded"; exit 1; }
echo "all as expected"
