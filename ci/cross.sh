#!/usr/bin/env bash
# The lock crates compile for the other architecture.
source "$(dirname "$0")/common.sh"
target=aarch64-unknown-linux-gnu
rustup target list --installed 2>/dev/null | grep -qx "$target" || rustup target add "$target" ||
    skip "cannot install the target $target"
cargo check --locked --target "$target" -p ondeck -p ondeck-zoo -p ondeck-lab -p ondeck-cli
