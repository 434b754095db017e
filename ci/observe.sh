#!/usr/bin/env bash
# Programs in C, C++, Rust and Go whose lock has a known keeper are observed: the report charges the keeper, knows the lock,
# and has the sum of waits that the program notes itself. Wrong orders of locks and deadlocks are reported, and right
# orders never. The programs of the shim's conformance do under the observer what they do without it.
#
#   ci/observe.sh            all of that
#   ci/observe.sh --suites   instead, glibc's own programs for POSIX threads and those of the Open POSIX Test Suite, of which
#                            LTP has its own, from Debian's sources, end under the observer as they do without it; 30 minutes
source "$(dirname "$0")/common.sh"
need_packages gcc g++ libc6-dev python3 pkg-config libabsl-dev libtbb-dev musl-tools
command -v go >/dev/null || need_packages golang-go
programs=tools/ondeck-profile/tests/programs/observed
target=${CARGO_TARGET_DIR:-target}

step "build"
tools/ondeck-observe/link.sh
cargo build --locked -q -p ondeck-cli --bin ondeck
command=$(realpath "$target/debug/ondeck")
ONDECK_OBSERVE_LIBRARY=$(realpath "$target/native/lib/libondeck_observe.so")
export ONDECK_OBSERVE_LIBRARY
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

# Downloads the source of a Debian package into $1.
debian_source() {
    local made=$1 options
    mkdir -p "$made/lists/partial" "$made/parts" "$made/bin"
    cat /etc/apt/sources.list.d/*.sources 2>/dev/null | sed 's/^Types:.*/Types: deb-src/' >"$made/parts/here.sources"
    options=(-qq -o "Dir::Etc::SourceList=/dev/null" -o "Dir::Etc::SourceParts=$made/parts" -o "Dir::State::Lists=$made/lists")
    (cd "$made" && apt-get "${options[@]}" update && apt-get "${options[@]}" source --download-only --tar-only "$2")
}

# Builds glibc's programs that need no part of its build, into $1/bin. The library of what they share is as incomplete as
# that: a program that misses something is left out.
build_glibc_programs() {
    local made=$1 source flags file
    debian_source "$made" glibc
    mkdir -p "$made/objects" "$made/include"
    tar -xf "$made"/glibc_*.orig.tar.xz -C "$made" --wildcards '*/nptl/*' '*/support/*' '*/sysdeps/pthread/*' \
        '*/test-skeleton.c' '*/include/intprops.h' '*/include/libc-diag.h' '*/include/array_length.h' '*/include/verify.h'
    source=$(echo "$made"/glibc-*/)
    mv "$source"include/* "$made/include"
    : >"$made/include/config.h"
    flags=(-O2 -w -std=gnu11 -D_GNU_SOURCE -DTIMEOUTFACTOR=5 -include limits.h -fcommon -pthread "-I$source" "-I$source/nptl"
        "-I$source/sysdeps/pthread" "-I$source/support" "-I$made/include")
    # The folders of its build, which no program that is left needs.
    mapfile -t -O ${#flags[@]} flags < <(grep -ohE '[A-Z_]+_PATH' "$source"support/support_paths.c | sed 's/.*/-D&="\/"/')
    for file in "$source"support/*.c; do
        case $(basename "$file") in tst-* | *container.c | links-dso* | test-run-command.c) continue ;; esac
        gcc "${flags[@]}" -c "$file" -o "$made/objects/$(basename "$file").o" 2>/dev/null || true
    done
    ar rcs "$made/support.a" "$made"/objects/*.o
    for file in "$source"nptl/tst-*.c "$source"sysdeps/pthread/tst-*.c; do
        gcc "${flags[@]}" "$file" -o "$made/bin/$(basename "$file" .c)" "$made/support.a" -lm 2>/dev/null || true
    done
}

# Builds the programs of the Open POSIX Test Suite for threads and semaphores, into $1/bin.
build_posix_programs() {
    local made=$1 file name
    debian_source "$made" posixtestsuite
    tar -xf "$made"/posixtestsuite_*.orig.tar.gz -C "$made"
    for file in "$made"/posixtestsuite/conformance/interfaces/{pthread,sem}_*/*.c \
        "$made"/posixtestsuite/functional/{threads/condvar,semaphores}/*.c; do
        name=$(basename "$(dirname "$file")")-$(basename "$file" .c)
        gcc -O2 -w -std=gnu99 -D_GNU_SOURCE -D_XOPEN_SOURCE=600 -fcommon -pthread "-I$made/posixtestsuite/include" "$file" \
            -o "$made/bin/$name" -lrt -lm 2>/dev/null || true
    done
}

if [ "${1:-}" = --suites ]; then
    need_packages dpkg-dev xz-utils
    made=$(realpath -m "$target/suites")
    [ -d "$made/glibc/bin" ] || { step "glibc's programs"; build_glibc_programs "$made/glibc"; }
    [ -d "$made/posix/bin" ] || { step "the Open POSIX Test Suite"; build_posix_programs "$made/posix"; }
    mkdir "$folder/recordings"
    # Prints the name and the exit status of a program without the observer and with it.
    both() {
        local with without
        cd "$(mktemp -d -p "$folder")"
        timeout 60 "$1" >/dev/null 2>&1 </dev/null && without=0 || without=$?
        ONDECK_PROFILE=$folder/recordings LD_PRELOAD=$ONDECK_OBSERVE_LIBRARY timeout 60 "$1" >/dev/null 2>&1 </dev/null &&
            with=0 || with=$?
        rm -f "$folder"/recordings/*
        echo "$1 $without $with"
    }
    export -f both
    export folder
    step "the programs, observed"
    find "$made"/*/bin -type f | sort | xargs -P 8 -I{} bash -c 'both {}' >"$folder/statuses"
    # What other programs disturb is tried again, one by one.
    failed=0
    while read -r name without with; do
        for _ in 1 2 3; do
            [ "$without" != "$with" ] || break
            echo "$name: $without, and under the observer $with"
            read -r _ without with < <(both "$name")
        done
        [ "$without" = "$with" ] || { echo "FAILED $name: $without, and under the observer $with"; failed=1; }
    done <"$folder/statuses"
    for name in glibc posix; do
        echo "$name: $(grep -c "/$name/" "$folder/statuses") programs, $(grep -c "/$name/.* 0 " "$folder/statuses") pass alone"
    done
    exit $failed
fi

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
# Its waiters poll: see below.
cpp tbb oneapi/tbb/mutex.h tbb::mutex lock unlock -DKEPT_NANOS=20000000 -ltbb
# shellcheck disable=SC2046 # options
cpp abseil absl/synchronization/mutex.h absl::Mutex Lock Unlock $(pkg-config --cflags --libs absl_synchronization)

# observe KIND PROGRAM ARGUMENT...: what other programs disturb is tried again. $most is how far the sums may be apart.
most=0.05
observe() {
    local kind=$1 tries truth
    shift
    for tries in 1 2 3 4 5; do
        "$command" run --profile "$folder/p.jsonl" -- "$@" >"$folder/truth.txt" 2>"$folder/table.txt" ||
            { cat "$folder/table.txt"; exit 1; }
        read -ra truth <"$folder/truth.txt"
        echo "$(basename "$1") ${*:2}"
        python3 ci/profile/check.py keeper "$folder/p.jsonl" "$kind" "${truth[@]}" "$most" && return
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
observe tbb "$folder/tbb"
# A function that ends with the unlock, by a tail call, is named.
g++ -std=c++17 -O2 -g -Wall -Wextra -Werror -pthread "$programs/server.cpp" -o "$folder/server"
"$command" run --profile "$folder/p.jsonl" -- "$folder/server" 1 2>"$folder/table.txt"
grep -q 'kept others waiting.*% *Cache::refresh ' "$folder/table.txt" || { cat "$folder/table.txt"; exit 1; }
step "Rust"
for kind in std_mutex std_rwlock std_condvar; do observe std "$rust" $kind; done
# They poll first, parking_lot by sched_yield(2): for milliseconds on a busy machine, and usync for as long on an idle one. Only a
# thread that sleeps shows its waker, one that was woken counts as a keeper while it polls, and no wait is seen before its sleep. So
# the sections are long.
for kind in parking_lot_12 parking_lot_12_rwlock parking_lot_13; do observe parking_lot "$rust" $kind 150; done
observe usync "$rust" usync 150
observe saa "$rust" saa 150

step "no library can be loaded"
# Only root may raise the priority of the thread that answers: without, waits on busy CPUs are seen late.
most=0.08
[ "$(id -u)" -eq 0 ] || most=0.3
gcc -O2 -g -pthread -static "$programs/keepers.c" -o "$folder/static"
observe pthread "$folder/static" mutex
observe pthread_rwlock "$folder/static" rwlock
observe condvar "$folder/static" condition
musl-gcc -O2 -g -static -DPTHREAD_MUTEX_ADAPTIVE_NP=0 "$programs/keepers.c" -o "$folder/musl"
for kind in mutex rwlock; do observe musl "$folder/musl" $kind; done
CGO_ENABLED=0 go build -o "$folder/go" "$programs/keepers.go"
observe go "$folder/go"

step "hazards"
for hazard in arguments leave post sandbox; do
    "$folder/hazards" "$hazard"
    "$command" run --profile "$folder/p.jsonl" -- "$folder/hazards" "$hazard" 2>"$folder/table.txt" ||
        { echo "$hazard: $?"; cat "$folder/table.txt"; exit 1; }
done

step "deadlocks"
gcc -O2 -g -Wall -Wextra -Werror -pthread "$programs/orders.c" -o "$folder/orders"
# deadlocks CODE PROGRAM PATTERN...: it ends so, and the text on several lines has the patterns.
deadlocks() {
    local ended=0 pattern
    timeout 100 "$command" run --deadlocks -- "$folder/orders" "$2" 2>"$folder/told.txt" || ended=$?
    echo "$2"
    [ $ended -eq "$1" ] || { cat "$folder/told.txt"; echo "ended with $ended"; exit 1; }
    for pattern in "${@:3}"; do
        grep -Pzq -- "$pattern" "$folder/told.txt" || { cat "$folder/told.txt"; echo "lacks: $pattern"; exit 1; }
    done
}
# edge HELD OUTER WANTED: the text of a thread that had one lock and wanted another.
edge() {
    printf 'has %s, [^\\n]*\\n *%s \\(orders.c:\\d+\\)\\n(.*\\n)*? *wants to %s, [^\\n]*\\n *inner \\(orders.c:\\d+\\)\\n *%s \\(' \
        "$1" "$2" "$3" "$2"
}
there=$(edge 'mutex first' outer 'lock mutex second')
back=$(edge 'mutex second' outer 'lock mutex first')
deadlocks 3 inversion '2 orders' "$there" "$back" '1 lock-order inversion, no deadlock'
deadlocks 3 deadlock 'deadlock: 2 threads' "$there" "$back" '1 lock-order inversion, 1 deadlock'
deadlocks 3 alone 'a thread waits for a lock that it holds' "$(edge 'mutex first' outer 'lock mutex first')"
deadlocks 3 reader "$(edge 'rwlock shared' outer_read 'lock mutex first')" 'wants to lock rwlock'
deadlocks 3 waiting 'deadlock: 2 threads' 'wants to lock mutex first, [^\n]*\n *outer_wait'
deadlocks 3 forked '2 processes checked: 1 lock-order inversion'
deadlocks 3 c11 'c11_second \((.*\n)*.*c11_first \('
deadlocks 3 many '1 lock-order inversion'
for right in back_off reuse recursive readers conditions timed anew handed cancelled signals; do
    deadlocks 0 $right '\d process(es)? checked: no lock-order inversion, no deadlock'
done

step "conformance"
mkdir "$folder/recordings"
# Not `versions`, which wants all functions from one library.
ONDECK_DEADLOCKS=$folder/recordings ONDECK_PROFILE=$folder/recordings locks/ondeck-preload/tests/conformance/run.sh --alone \
    --preload "$ONDECK_OBSERVE_LIBRARY" allocator asynchronous barrier calls cancel conditions constructors destroy fork \
    lazy oldcond opening race robust sandbox semaphore \
    shared signals threads unwind
