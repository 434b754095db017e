#!/usr/bin/env bash
# The replacements of parking_lot and parking_lot_core: clippy gives no warning for them, with each set of features;
# tests that use every item pass with them and with the originals.
#
#   dropin.sh          half a minute, or some minutes where nothing is compiled
#   dropin.sh --suites also the test suites of parking_lot and of crates that use it (examples/drop-in), for an hour
source "$(dirname "$0")/common.sh"
need_packages python3
here=$PWD
CARGO_TARGET_DIR=$(realpath -m "${CARGO_TARGET_DIR:-target}")
export CARGO_TARGET_DIR

# Each package is a workspace of its own, in which cargo has to run.
in_package() {
    (cd "drop-in/$1" && "${@:2}")
}

for package in parking_lot-0.12 parking_lot-0.13; do
    for features in serde,owning_ref,nightly,deadlock_detection,arc_lock send_guard,arc_lock; do
        step "$package with $features"
        in_package "$package" cargo clippy -q --all-targets --features "$features" -- -D warnings
        in_package "$package" cargo test -q --features "$features"
    done
done
for package in parking_lot_core-0.9 parking_lot_core-0.10; do
    step "$package"
    in_package "$package" cargo clippy -q --all-targets -- -D warnings
    in_package "$package" cargo clippy -q --all-targets --features deadlock_detection,nightly -- -D warnings
    in_package "$package" cargo test -q --features deadlock_detection,nightly
done

step "the traits of lock_api 0.4"
cargo test -q --locked -p ondeck --doc --features lock_api_04 lock_api_04

# with_originals PARKING_LOT PARKING_LOT_CORE: the same tests with the originals of these versions.
with_originals() {
    local lot=$1 core=$2 original=$CARGO_TARGET_DIR/drop-in/original-$1
    step "the same tests with the originals, parking_lot $lot and parking_lot_core $core"
    mkdir -p "$original/src"
    : >"$original/src/lib.rs"
    cat >"$original/Cargo.toml" <<EOF
[workspace]
[package]
name = "original"
edition = "2024"
[dev-dependencies]
parking_lot = "=$lot"
parking_lot_core = "=$core"
[features]
arc_lock = ["parking_lot/arc_lock"]
send_guard = ["parking_lot/send_guard"]
deadlock_detection = ["parking_lot/deadlock_detection"]
[[test]]
name = "every_item"
path = "$here/drop-in/parking_lot-${lot%.*}/tests/every_item.rs"
[[test]]
name = "every_item_of_core"
path = "$here/drop-in/parking_lot_core-${core%.*}/tests/every_item.rs"
EOF
    (cd "$original" && cargo test -q --features arc_lock,deadlock_detection)
}
with_originals 0.12.5 0.9.12
with_originals 0.13.0 0.10.0

step "the table of docs/data/drop-in.md"
examples/drop-in/crates.py --check

if [ "${1:-}" = --suites ]; then
    step "the test suites of parking_lot, and of crates that use it"
    examples/drop-in/crates.py
fi
