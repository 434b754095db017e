#!/usr/bin/env bash
# The C and C++ peers build against Debian's packages, and pass the tests that every lock passes.
source "$(dirname "$0")/common.sh"
need_packages g++ pkg-config libabsl-dev libnsync-dev libtbb-dev libck-dev
cargo test --locked -p ondeck-zoo --features peers-cpp --lib --test conformance --test rwlocks
cargo clippy --locked -p ondeck-zoo --features peers-cpp --all-targets -- -D warnings
