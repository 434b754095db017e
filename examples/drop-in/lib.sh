# shellcheck shell=bash
# Sourced by every script here: fetches a published crate, puts crate ondeck's locks in parking_lot's place by
# [patch.crates-io], and runs the crate's own tests.
#
#   fetch NAME VERSION   copies the crate's published source to $scratch/NAME
#   patch_in NAME        adds the patches to that copy's Cargo.toml, and fails if cargo does not use them
#
# The sources come by `cargo fetch`, from whatever registry cargo is configured for. The scratch folder is
# $DROPIN_SCRATCH, or /tmp/ondeck-drop-in; what is in it is made anew each time. Nothing else is written but cargo's target folder.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(cd "$here/../.." && pwd)
scratch=${DROPIN_SCRATCH:-/tmp/ondeck-drop-in}/$(basename "$0" .sh)
# One for all crates, so that what they have in common is compiled once.
export CARGO_TARGET_DIR=${CARGO_TARGET_DIR:-${DROPIN_SCRATCH:-/tmp/ondeck-drop-in}/target}
mkdir -p "$scratch"

for tool in cargo python3; do
    command -v "$tool" >/dev/null || { echo "skipped: needs $tool" >&2; exit 77; }
done

fetch() {
    local name=$1 version=$2 by=$scratch/.by-$1
    rm -rf "$by" "${scratch:?}/$name"
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
    # Without the versions that its authors had, cargo takes the newest, among them the patch. The compiler of
    # its authors may be older than the one that crate ondeck needs.
    rm -f "$scratch/$name"/{Cargo.lock,.cargo-ok,rust-toolchain,rust-toolchain.toml}
}

patch_in() {
    cat >>"$scratch/$1/Cargo.toml" <<EOF

[workspace]

[patch.crates-io]
EOF
    local replacement
    for replacement in parking_lot-0.12 parking_lot-0.13 parking_lot_core-0.9 parking_lot_core-0.10; do
        cat >>"$scratch/$1/Cargo.toml" <<EOF
${replacement/./_} = { package = "${replacement%-*}", path = "$root/drop-in/$replacement" }
EOF
    done
    local used
    used=$(cd "$scratch/$1" && cargo metadata -q --all-features --format-version 1 2>/dev/null | python3 -c '
import json, sys
used = sorted((it["name"], it["version"], "of the registry" if it["source"] else "of ondeck")
              for it in json.load(sys.stdin)["packages"] if it["name"] in ("parking_lot", "parking_lot_core"))
print(", ".join(" ".join(it) for it in used))')
    case $used in
        *"of the registry"*) echo "$1: cargo does not take the patch: $used" >&2; exit 1 ;;
        "") echo "$1: does not use parking_lot" >&2; exit 1 ;;
    esac
    echo "$1: with $used"
}
