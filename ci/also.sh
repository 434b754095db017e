#!/usr/bin/env bash
# Checks of a few lines each, which need not run after every change: `ci/also.sh NAME`.
#
#   commands [PAGE...]   every command of README.md and of the user's book, or of these pages, works as it stands there;
#                        half an hour
#   deadlock             the detection of deadlocks, and statistics: deadlocks, inversions and reads within reads are
#                        reported, and nothing else is; locks are counted; without the feature nothing of the detection is
#                        in the crate
#   models               the tests of a program (examples/tested) under loom and under shuttle, with the models in place of the
#                        locks; both compile in 45 s of CPU time, and take 7
#   msrv                 the oldest compiler that Cargo.toml names (`rust-version`) compiles everything
#   peers                the C and C++ peers build against Debian's packages, and pass the tests that every lock passes
#   slices               the tests of the locks pass where no sleep of a parked thread ends by itself for an hour, so that a
#                        wake that is only late otherwise is a hang
source "$(dirname "$0")/common.sh"

commands() {
    need_packages python3 gcc g++ jq pkg-config
    python3 ci/book/commands.py "$@"
}

deadlock() {
    step "without the feature"
    if cargo tree --locked -p ondeck --edges normal | grep ondeck-deadlock; then
        echo "ondeck needs ondeck-deadlock without the feature deadlock_detection"
        exit 1
    fi

    step "tests"
    cargo test --locked -q -p ondeck-deadlock
    cargo test --locked -q -p ondeck --features deadlock_detection --test deadlock --test allocator
    cargo test --locked -q -p ondeck --features deadlock_detection --doc deadlock
    cargo test --locked -q -p ondeck --features stats --lib observe::stats
    cargo test --locked -q -p ondeck --features stats --test stats --test allocator
    cargo test --locked -q -p ondeck --features stats --doc stats
    cargo test --locked -q -p ondeck-profile --features ondeck/stats --test profiles that_the_program_gave

    step "the example of docs/deadlock.md"
    cargo build --locked -q -p locks --features deadlock_detection --example deadlock
    told=$(ONDECK_DEADLOCK=report "${CARGO_TARGET_DIR:-target}/debug/examples/deadlock" 2>&1)
    for words in 'ondeck: lock-order inversion: 2 orders make a circle' '(payday)' '(rent)' '60 and 40' \
        'deposit at examples/locks/deadlock.rs:24'; do
        grep -qF "$words" <<<"$told" || { printf '%s\n' "$told" "\"$words\" is missing"; exit 1; }
    done
}

models() {
    step "shuttle"
    cargo clippy --locked -q -p ondeck --lib --features shuttle,arc_lock -- -D warnings
    cargo test --locked -q -p tested --features shuttle
    step "loom"
    export RUSTFLAGS='--cfg loom' CARGO_TARGET_DIR="${CARGO_TARGET_DIR:-target}/loom"
    LOOM_MAX_PREEMPTIONS=3 cargo test --locked -q -p tested
}

msrv() {
    version=$(sed -n 's/^rust-version = "\(.*\)"/\1/p' Cargo.toml)
    if rustc --version | grep -q "^rustc $version\."; then
        cargo check --workspace --all-targets --locked
    else
        rustup toolchain install "$version" --profile minimal --no-self-update ||
            skip "cannot install Rust $version"
        cargo "+$version" check --workspace --all-targets --locked --target-dir target/msrv
    fi
}

peers() {
    need_packages g++ pkg-config libabsl-dev libnsync-dev
    cargo test --locked -p ondeck-zoo --features peers-cpp --lib --test conformance --test rwlocks
    cargo clippy --locked -p ondeck-zoo --features peers-cpp --all-targets -- -D warnings
}

slices() {
    export RUSTFLAGS='--cfg ondeck_slices="hour"' CARGO_TARGET_DIR="${CARGO_TARGET_DIR:-target}/slices"
    cargo test --locked -q -p ondeck --test api --test plain
}

case ${1:-} in
    commands | deadlock | models | msrv | peers | slices) "$@" ;;
    *) echo "usage: ci/also.sh commands [PAGE...] | deadlock | models | msrv | peers | slices" >&2; exit 2 ;;
esac
