#!/usr/bin/env bash
# The oldest compiler that Cargo.toml names (`rust-version`) compiles everything.
source "$(dirname "$0")/common.sh"
version=$(sed -n 's/^rust-version = "\(.*\)"/\1/p' Cargo.toml)
if rustc --version | grep -q "^rustc $version\."; then
    cargo check --workspace --all-targets --locked
else
    rustup toolchain install "$version" --profile minimal --no-self-update ||
        skip "cannot install Rust $version"
    cargo "+$version" check --workspace --all-targets --locked --target-dir target/msrv
fi
