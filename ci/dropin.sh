#!/usr/bin/env bash
# The replacements of parking_lot and parking_lot_core: clippy gives no warning for them, with each set of features;
# a test that uses every item of parking_lot passes with them and with the originals; and the table of
# docs/drop-in.md has the items that they export, no more and no less.
#
#   dropin.sh          half a minute, or some minutes where nothing is compiled
#   dropin.sh --full   also parking_lot's own tests, and those of crates that use it (examples/drop-in)
source "$(dirname "$0")/common.sh"
need_packages python3
here=$PWD
CARGO_TARGET_DIR=$(realpath -m "${CARGO_TARGET_DIR:-target}")
export CARGO_TARGET_DIR

# Each package is a workspace of its own, in which cargo has to run.
in_package() {
    (cd "drop-in/$1" && "${@:2}")
}

step "the table of docs/drop-in.md"
python3 drop-in/parity.py

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
done

for version in 0.12.5 0.13.0; do
    step "the same test with the original parking_lot $version"
    original=$CARGO_TARGET_DIR/drop-in/original-$version
    mkdir -p "$original/src"
    : >"$original/src/lib.rs"
    cat >"$original/Cargo.toml" <<EOF
[workspace]
[package]
name = "original"
version = "0.0.0"
edition = "2024"
[dev-dependencies]
parking_lot = "=$version"
[features]
arc_lock = ["parking_lot/arc_lock"]
send_guard = ["parking_lot/send_guard"]
deadlock_detection = ["parking_lot/deadlock_detection"]
[[test]]
name = "every_item"
path = "$here/drop-in/parking_lot-${version%.*}/tests/every_item.rs"
EOF
    (cd "$original" && cargo test -q --features arc_lock,deadlock_detection)
done

if [ "${1:-}" = --full ]; then
    step "parking_lot's own tests, and those of crates that use it"
    examples/drop-in/parking_lot.sh
    examples/drop-in/crates.sh
fi
