#!/usr/bin/env bash
# Builds libondeck_preload.so into ${CARGO_TARGET_DIR:-target}/native/lib.
#
#     crates/ondeck-preload/link.sh
#
# cargo makes a static library, and the C compiler links it: rustc gives a shared library a version script of its own,
# which does not allow names with versions.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
crate=crates/ondeck-preload
target=${CARGO_TARGET_DIR:-target}
cc=${CC:-cc}

cargo build --locked --profile native -p ondeck-preload --features names
mkdir -p "$target/native/lib"
"$cc" -shared -o "$target/native/lib/libondeck_preload.so" \
    -Wl,--whole-archive "$target/native/libondeck_preload.a" -Wl,--no-whole-archive \
    -Wl,-soname,libondeck_preload.so -Wl,--version-script="$crate/symbols.map" \
    -Wl,--gc-sections -Wl,-z,now -Wl,-z,relro -Wl,-z,defs -Wl,-z,noexecstack -Wl,-Bsymbolic \
    -Wl,--as-needed -lc -Wl,--no-as-needed
