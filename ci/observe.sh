#!/usr/bin/env bash
# Programs in C, C++ and Rust whose lock has a known keeper are observed: the report charges the keeper, knows the lock,
# and has the sum of waits that the program notes itself. The programs of the shim's conformance do under the observer
# what they do without it.
source "$(dirname "$0")/common.sh"
need_packages gcc g++ libc6-dev python3 pkg-config libabsl-dev
programs=crates/ondeck-profile/tests/programs/observed
target=${CARGO_TARGET_DIR:-target}

step "build"
crates/ondeck-observe/link.sh
cargo build --locked -q -p ondeck-cli --bin ondeck
command=$(realpath "$target/debug/ondeck")
ONDECK_OBSERVE_LIBRARY=$(realpath "$target/native/lib/libondeck_observe.so")
export ONDECK_OBSERVE_LIBRARY
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
gcc -O2 -g -Wall -Wextra -Werror -pthread "$programs/keepers.c" -o "$folder/c"
gcc -O2 -g -Wall -Wextra -Werror -pthread "$programs/hazards.c" -o "$folder/hazards"
cargo build --release -q --manifest-path "$programs/rust/Cargo.toml" --target-dir "$target/observed"
rust=$(realpath "$target/observed/release/keepers")

# cpp NAME HEADER LOCK LOCK-FUNCTION UNLOCK-FUNCTION OPTION...
cpp() {
    g++ -std=c++17 -O2 -g -Wall -Wextra -Werror -pthread "-DHEADER=<$2>" "-DLOCK=$3" "-DACQUIRE=$4" "-DRELEASE=$5" \
        "$programs/keepers.cpp" -o "$folder/$1" "${@:6}"
}
cpp std_mutex mutex std::mutex lock unlock
cpp std_shared shared_mutex std::shared_mutex lock unlock
# shellcheck disable=SC2046 # options
cpp abseil absl/synchronization/mutex.h absl::Mutex Lock Unlock $(pkg-config --cflags --libs absl_synchronization)

# observe KIND PROGRAM ARGUMENT...: what other programs disturb is tried again.
observe() {
    local kind=$1 tries truth
    shift
    for tries in 1 2 3 4 5; do
        "$command" run --profile "$folder/p.jsonl" -- "$@" >"$folder/truth.txt" 2>"$folder/table.txt" ||
            { cat "$folder/table.txt"; exit 1; }
        read -ra truth <"$folder/truth.txt"
        echo "$(basename "$1") ${*:2}"
        python3 ci/observe/check.py "$folder/p.jsonl" "$kind" "${truth[@]}" && return
        [ "$tries" -lt 5 ] || { cat "$folder/table.txt"; exit 1; }
    done
}

step "C"
for kind in mutex adaptive recursive inherit timed c11; do observe pthread "$folder/c" $kind; done
for kind in rwlock read; do observe pthread_rwlock "$folder/c" $kind; done
observe semaphore "$folder/c" semaphore
observe condvar "$folder/c" condition
step "C++"
observe pthread "$folder/std_mutex"
observe pthread_rwlock "$folder/std_shared"
observe abseil "$folder/abseil"
# A function that ends with the unlock, by a tail call, is named.
g++ -std=c++17 -O2 -g -Wall -Wextra -Werror -pthread "$programs/server.cpp" -o "$folder/server"
"$command" run --profile "$folder/p.jsonl" -- "$folder/server" 1 2>"$folder/table.txt"
grep -q 'kept others waiting.*% *Cache::refresh ' "$folder/table.txt" || { cat "$folder/table.txt"; exit 1; }
step "Rust"
for kind in std_mutex std_rwlock std_condvar; do observe std "$rust" $kind; done
# They poll first by sched_yield(2), which takes milliseconds on a busy machine, and only a thread that sleeps shows its waker.
for kind in parking_lot_12 parking_lot_12_rwlock parking_lot_13; do observe parking_lot "$rust" $kind 150; done
observe usync "$rust" usync
observe saa "$rust" saa

step "hazards"
for hazard in arguments leave post sandbox; do
    "$folder/hazards" "$hazard"
    "$command" run --profile "$folder/p.jsonl" -- "$folder/hazards" "$hazard" 2>"$folder/table.txt" ||
        { echo "$hazard: $?"; cat "$folder/table.txt"; exit 1; }
done

step "conformance"
mkdir "$folder/recordings"
# Not `versions`, which wants all functions from one library.
ONDECK_PROFILE=$folder/recordings crates/ondeck-preload/tests/conformance/run.sh --alone \
    --preload "$ONDECK_OBSERVE_LIBRARY" allocator asynchronous barrier bypass c11 cancel conditions constructors destroy fork \
    initializers kinds lazy leaving oldcond one opening others protect race recursion robust rwlock_ends sandbox semaphore \
    shared signals single threads unwind
