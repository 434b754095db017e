# shellcheck shell=bash
# Sourced by every script here: fetches a published crate, puts crate ondeck's locks in parking_lot's place by
# [patch.crates-io], and runs the crate's own tests.
#
#   fetch NAME VERSION   copies the crate's published source to $scratch/NAME
#   patch_in NAME        adds the patch to that copy's Cargo.toml, and fails if cargo does not use it
#
# The sources come by `cargo fetch`, from whatever registry cargo is configured for. The scratch folder is made
# anew each time: $DROPIN_SCRATCH, or /tmp/ondeck-drop-in. Nothing else is written but cargo's target folder.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(cd "$here/../.." && pwd)
scratch=${DROPIN_SCRATCH:-/tmp/ondeck-drop-in}/$(basename "$0" .sh)
# One for all crates, so that what they have in common is compiled once.
export CARGO_TARGET_DIR=${CARGO_TARGET_DIR:-${DROPIN_SCRATCH:-/tmp/ondeck-drop-in}/target}
rm -rf "$scratch"
mkdir -p "$scratch"

for tool in cargo python3; do
    command -v "$tool" >/dev/null || { echo "skipped: needs $tool" >&2; exit 77; }
done

fetch() {
    local name=$1 version=$2 by=$scratch/.by-$1
    mkdir -p "$by/src"
    : >"$by/src/lib.rs"
    cat >"$by/Cargo.toml" <<EOF
[package]
name = "fetches"
version = "0.0.0"
edition = "2021"
[dependencies]
$name = "=$version"
[workspace]
EOF
    (cd "$by" && cargo fetch -q)
    local manifest
    manifest=$(cd "$by" && cargo metadata -q --format-version 1 | python3 -c '
import json, sys
name, version = sys.argv[1:]
print(next(it["manifest_path"] for it in json.load(sys.stdin)["packages"]
           if (it["name"], it["version"]) == (name, version)))' "$name" "$version")
    cp -r "$(dirname "$manifest")" "$scratch/$name"
    # Without the versions that its authors had, cargo takes the newest, among them the patch.
    rm -f "$scratch/$name/Cargo.lock" "$scratch/$name/.cargo-ok"
}

patch_in() {
    cat >>"$scratch/$1/Cargo.toml" <<EOF

[workspace]

[patch.crates-io.parking_lot]
path = "$root/drop-in/parking_lot-0.13"

[patch.crates-io.parking_lot_0_12]
package = "parking_lot"
path = "$root/drop-in/parking_lot-0.12"
EOF
    local used
    used=$(cd "$scratch/$1" && cargo metadata -q --all-features --format-version 1 | python3 -c '
import json, sys
found = {(it["version"], it["source"]) for it in json.load(sys.stdin)["packages"] if it["name"] == "parking_lot"}
print(" ".join(version if source is None else "registry:" + version for version, source in sorted(found)))')
    case " $used " in
        *registry:*) echo "$1: cargo still takes parking_lot from the registry: $used" >&2; exit 1 ;;
        "  ") echo "$1: does not use parking_lot" >&2; exit 1 ;;
    esac
    echo "$1: with parking_lot $used of crate ondeck"
}
