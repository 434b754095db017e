#!/usr/bin/env bash
# A C program with one hot lock is recorded under the preloaded library: the reports name the lock, its line, the
# function that kept others waiting and those that waited; so they do after a fork, an exec, and a SIGKILL. pprof
# reads the profile. A program that notes the truth itself is compared with it, and C++'s guards are not to blame. The
# sleeps of programs in Rust, Python and Java are found by sampling. The library has the probes that docs/profile.md names.
source "$(dirname "$0")/common.sh"
need_packages gcc g++ clang libc++-dev libc++abi-dev libc6-dev binutils python3
command -v go >/dev/null || need_packages golang-go
programs=tools/ondeck-profile/tests/programs
target=${CARGO_TARGET_DIR:-target}

step "build"
locks/ondeck-preload/link.sh
# With all crates' features, as the tests build it.
cargo build --locked -q --workspace --example read --bin ondeck
library=$(realpath "$target/native/lib/libondeck_preload.so")
reader=$(realpath "$target/debug/examples/read")
command=$(realpath "$target/debug/ondeck")
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
# Optimized, as a distribution's programs are, so that functions that end with an unlock leave no frame.
gcc -O2 -g -Wall -Wextra -Werror -pthread "$programs/hot.c" -o "$folder/hot"

step "probes"
for probe in wait_begin wait_end release; do
    # No pipe: grep stops at the first match, and readelf would then fail.
    grep -q "Name: $probe\$" <<<"$(readelf -n "$library")" || { echo "$library has no probe ondeck:$probe"; exit 1; }
done

# recorded PROGRAM ARGUMENT...: records the program under the library, or under another $shim.
recorded() {
    step "$*"
    rm -rf "$folder/recording" "$folder/out"
    mkdir "$folder/recording"
    LD_PRELOAD=${shim:-$library} ONDECK_PROFILE=$folder/recording "$folder/$1" "${@:2}"
}
# check WHAT ARGUMENT...: checks what was read of the recording.
check() {
    python3 ci/profile/check.py "$1" "$folder/out/profile.jsonl" "${@:2}"
}

# record PROCESSES ARGUMENT...: records the program, which must run as this many processes.
record() {
    local processes=$1 status=0
    shift
    recorded hot "$@" || status=$?
    case $* in
    *kill) [ "$status" -eq 137 ] || { echo "the program ended with $status, not by SIGKILL"; exit 1; } ;;
    *) [ "$status" -eq 0 ] || { echo "the program ended with $status"; exit 1; } ;;
    esac
    "$reader" "$folder/recording" "$folder/out"
    go tool pprof -top "$folder/out/holders.pb.gz" >"$folder/out/top.txt" 2>/dev/null
    check hot "$folder/out/top.txt" "$processes" "$programs/hot.c"
}
# A thread that loses its CPU in a short section keeps others waiting longer than the long sections do. Then try again.
record 1 300 || record 1 300
record 2 300 fork || record 2 300 fork
record 2 300 exec || record 2 300 exec
record 1 300 kill || record 1 300 kill

# Compares each with what the program has noted itself.
gcc -O2 -g -Wall -Wextra -Werror -pthread "$programs/truth.c" -o "$folder/truth"
compare_with_truth() {
    local truth
    recorded truth "$@" | tee "$folder/told"
    read -ra truth < <(tail -n 1 "$folder/told")
    "$reader" "$folder/recording" "$folder/out" >"$folder/table.txt"
    check truth "${truth[@]}"
}
# Records are samples, and other programs on the machine disturb some. Then try again.
for sections in "300000 700000 200 20000" "300000 700000 20000 50000" "20000 50000 1000 1000"; do
    # shellcheck disable=SC2086 # numbers
    compare_with_truth $sections 500 || compare_with_truth $sections 500
done

# The frames of the standard library's guards are cut off, and those of a shim that has another name.
check_guards() {
    local names=$1 shim=$2
    shift 2
    "$@" -std=c++17 -g -Wall -Wextra -Werror -pthread "$programs/guards.cpp" -o "$folder/guards"
    recorded guards
    "$reader" "$folder/recording" "$folder/out" >"$folder/table.txt"
    # shellcheck disable=SC2086 # names
    check guards $names
}
cp "$library" "$folder/renamed.so"
for level in -O0 -O1 -O2; do
    check_guards "guard unique scoped signalled timed shared" "$folder/renamed.so" g++ "$level"
    # Its timed and shared mutexes are made of a mutex and a condition variable.
    check_guards "guard unique scoped signalled" "$library" clang++ "$level" -stdlib=libc++
done

# Locks that the shim does not record: the report has where threads slept for them, and says that their holders are not known.
check_sleeps() {
    local kind=$1 function=$2
    shift 2
    step "sleeps of $*"
    ONDECK_PRELOAD_LIBRARY=$library "$command" run --lock ondeck --profile "$folder/out/profile.jsonl" -- "$@" 2>"$folder/table.txt"
    check sleeps "$kind" "$function"
    grep -q "the thread that holds one is not known" "$folder/table.txt" || { cat "$folder/table.txt"; exit 1; }
}
rustc --edition 2024 -O -g "$programs/keeper.rs" -o "$folder/keeper"
check_sleeps futex keeper::victim "$folder/keeper"
check_sleeps semaphore PyThread_acquire_lock "$(python3 -c 'import sys; print(sys.executable)')" "$programs/keeper.py"
if command -v javac >/dev/null; then
    javac -d "$folder" "$programs/Keeper.java"
    check_sleeps condition_variable ObjectMonitor::enter java -cp "$folder" Keeper
else
    echo "left out: no javac (Debian's default-jdk-headless)"
fi

# What a recorder has to survive: see the program.
gcc -O2 -g -Wall -Wextra -Werror -pthread "$programs/hostile.c" -o "$folder/hostile"
for what in stack reuse relock; do
    recorded hostile "$what"
    "$reader" "$folder/recording" "$folder/out"
    check hostile "$what"
done
step "operations"
# More threads than it has room for, each kind of mutex, locks in memory that is gone, handlers that run in waits, children of forks:
# what the programs of the shim's conformance do is recorded, and is what they do without.
rm -rf "$folder/recording"
mkdir "$folder/recording"
ONDECK_PROFILE=$folder/recording ONDECK_RECORD=1 locks/ondeck-preload/tests/conformance/run.sh --alone --preload "$library" \
    calls destroy fork signals threads
# A file of each program, with the operations, and of each child that fork(3) has made.
[ "$(find "$folder/recording" -size +80M | wc -l)" -eq 75 ] || { ls -l "$folder/recording"; exit 1; }
step "hostile switch"
rm -rf "$folder/out"
mkdir "$folder/1" "$folder/2"
{ printf ondeckCP && head -c 4088 /dev/zero; } >"$folder/page"
(cd "$folder" && LD_PRELOAD=$library ONDECK_CONTROL=$folder/page ./hostile switch)
"$reader" "$folder/2" "$folder/out"
check hostile switch

step "hostile full"
# The disk is full when the threads begin to wait: nothing is recorded, and the program goes on.
mkdir "$folder/small"
if mount -t tmpfs -o size=64m none "$folder/small" 2>/dev/null; then
    trap 'umount "$folder/small"; rm -rf "$folder"' EXIT
    mkfifo "$folder/go"
    LD_PRELOAD=$library ONDECK_PROFILE=$folder/small "$folder/hostile" full <"$folder/go" &
    program=$!
    exec 9>"$folder/go"
    for ((tries = 0; tries < 300; tries += 1)); do
        [ -z "$(ls "$folder/small")" ] || break
        sleep 0.1
    done
    [ -n "$(ls "$folder/small")" ] || { kill "$program"; echo "no file is made on a disk of 64 MB"; exit 1; }
    sleep 0.5
    cat /dev/zero >"$folder/small/filler" 2>/dev/null || true
    echo >&9
    wait "$program"
    rm "$folder/small/filler"
    "$reader" "$folder/small" "$folder/out" | tee "$folder/table.txt"
    grep -q "the disk was full" "$folder/table.txt" || { echo "nobody is told that the disk was full"; exit 1; }
    exec 9>&-
    umount "$folder/small"
    trap 'rm -rf "$folder"' EXIT
else
    echo "left out: mount(8) is not allowed here"
fi

step "without the variable nothing is recorded"
(cd "$folder" && rm -rf recording && mkdir recording && LD_PRELOAD=$library "$folder/hot" 50)
[ -z "$(ls "$folder/recording")" ] || { echo "something was recorded"; exit 1; }
echo "all as expected"
