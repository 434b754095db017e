#!/usr/bin/env bash
# All crates compile for aarch64, and the locks for one target of each system. `ci/systems.sh` does more.
source "$(dirname "$0")/common.sh"

need_target aarch64-unknown-linux-gnu
cargo check --locked --target aarch64-unknown-linux-gnu -p ondeck -p ondeck-zoo -p ondeck-lab -p ondeck-report -p ondeck-trace \
    -p ondeck-advise -p ondeck-cli

for target in i686-unknown-linux-gnu x86_64-pc-windows-gnu aarch64-apple-darwin x86_64-unknown-freebsd x86_64-unknown-netbsd \
    wasm32-unknown-unknown; do
    need_target "$target"
    cargo check --locked --target "$target" -p ondeck -p ondeck-zoo
done

# What is for 64-bit Linux says so.
for feature in profile deadlock_detection; do
    told=$(cargo check --locked --target x86_64-pc-windows-gnu -p ondeck --features "$feature" 2>&1) &&
        { echo "ondeck's feature \`$feature\` compiles for Windows, for which it is not meant"; exit 1; }
    grep -q 'for 64-bit Linux only' <<<"$told" ||
        { printf '%s\n' "$told" "the reason why ondeck's feature \`$feature\` does not compile for Windows is missing"; exit 1; }
done
