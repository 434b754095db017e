#!/usr/bin/env bash
# All crates compile for aarch64. For a 32-bit target `ondeck` does not compile, and the compiler says why.
source "$(dirname "$0")/common.sh"

need_target() {
    rustup target list --installed 2>/dev/null | grep -qx "$1" || rustup target add "$1" ||
        skip "cannot install the target $1"
}

need_target aarch64-unknown-linux-gnu
cargo check --locked --target aarch64-unknown-linux-gnu -p ondeck -p ondeck-zoo -p ondeck-lab -p ondeck-report -p ondeck-trace \
    -p ondeck-advise -p ondeck-cli

need_target i686-unknown-linux-gnu
told=$(cargo check --locked --target i686-unknown-linux-gnu -p ondeck 2>&1) &&
    { echo "ondeck compiles for 32 bits, for which it is not meant"; exit 1; }
grep -q 'error: ondeck runs on 64-bit Linux only' <<<"$told" ||
    { printf '%s\n' "$told" "the reason why ondeck does not compile for 32 bits is missing"; exit 1; }
