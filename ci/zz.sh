#!/usr/bin/env bash
# Programs in C, C++ and Rust whose lock has a known keeper are observed: the report charges the keeper, knows the lock,
# and has the sum of waits that the program notes itself. Wrong orders of locks and deadlocks are reported, and right
# orders never. The programs of the shim's conformance do under the observer
# what they do without it.
source "$(dirname "$0")/common.sh"

programs=crates/ondeck-profile/tests/programs/observed
target=${CARGO_TARGET_DIR:-target}

step "build"


command=$(realpath "$target/debug/ondeck")
ONDECK_OBSERVE_LIBRARY=$(realpath "$target/native/lib/libondeck_observe.so")
export ONDECK_OBSERVE_LIBRARY
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
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
    echo "has $1, [^\n]*\n *$2 \(orders.c:\d+\)\n(.*\n)*? *wants to $3, [^\n]*\n *inner \(orders.c:\d+\)\n *$2 \("
}
there=$(edge 'mutex first' outer 'lock mutex second')
back=$(edge 'mutex second' outer 'lock mutex first')
deadlocks 3 inversion '2 orders' "$there" "$back" '1 lock-order inversion, no deadlock'
deadlocks 3 deadlock 'deadlock: 2 threads' "$there" "$back" '1 lock-order inversion, 1 deadlock'
deadlocks 3 three '3 orders' "$there" "$(edge 'mutex third' outer 'lock mutex first')" '1 lock-order inversion'
deadlocks 3 alone 'a thread waits for a lock that it holds' "$(edge 'mutex first' outer 'lock mutex first')"
deadlocks 3 reader "$(edge 'rwlock shared' outer_read 'lock mutex first')" 'wants to lock rwlock'
deadlocks 3 waiting 'deadlock: 2 threads' 'wants to lock mutex first, [^\n]*\n *outer_wait'
deadlocks 3 forked '2 processes checked: 1 lock-order inversion'
deadlocks 3 c11 'c11_second \((.*\n)*.*c11_first \('
deadlocks 3 many '1 lock-order inversion'
for right in hand_over_hand back_off by_address reuse recursive gate readers conditions timed anew handed cancelled \
    signals; do
    deadlocks 0 $right '\d process(es)? checked: no lock-order inversion, no deadlock'
done
