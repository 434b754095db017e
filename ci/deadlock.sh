#!/usr/bin/env bash
# The detection of deadlocks: clippy gives no warning for the feature; deadlocks, inversions and reads within reads
# are reported, and nothing else is; without the feature nothing of it is in the crate.
source "$(dirname "$0")/common.sh"

step "without the feature"
tree=$(cargo tree --locked -p ondeck --edges normal)
if grep -q ondeck-deadlock <<<"$tree"; then
    echo "ondeck needs ondeck-deadlock without the feature deadlock_detection"
    exit 1
fi

step "clippy, with each set of features"
for features in deadlock_detection deadlock_detection,profile,arc_lock; do
    cargo clippy --locked -q -p ondeck --all-targets --features "$features" -- -D warnings
done

step "tests"
cargo test --locked -q -p ondeck-deadlock
cargo test --locked -q -p ondeck --features deadlock_detection --test deadlock --test deadlock_allocator
cargo test --locked -q -p ondeck --features deadlock_detection --doc deadlock

step "the example of docs/deadlock.md"
cargo build --locked -q -p ondeck --features deadlock_detection --example deadlock
told=$(ONDECK_DEADLOCK=report "${CARGO_TARGET_DIR:-target}/debug/examples/deadlock" 2>&1)
for words in 'ondeck: lock-order inversion: 2 orders make a circle' '(payday)' '(rent)' '60 and 40' \
    'deposit at crates/ondeck/examples/deadlock.rs:24'; do
    grep -qF "$words" <<<"$told" || { printf '%s\n' "$told" "\"$words\" is missing"; exit 1; }
done
