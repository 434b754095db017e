#!/usr/bin/env bash
# What a release needs beyond the gate: docs/releasing.md is the checklist.
#
#   ci/release.sh            everything below, in this order; some 30 minutes, most of it for building the tools and
#                            the binaries
#   ci/release.sh STEP...    some of it
#
#   package    a dry run of publishing all crates, in a clone of the last commit: each is packed, and compiled from
#              what was packed
#   minimal    the crates compile with the oldest versions that their Cargo.toml files accept
#   deny       licenses, sources and known vulnerabilities of what others wrote, by ci/deny.toml
#   abi        the symbols and types of libondeck.so.0 since the last tag, if it has that library
#   semver     the interfaces of `ondeck` since the last tag, if there is one
#   sbom       the list of everything that the command is built of (CycloneDX), in target/sbom
#   binaries   the Debian packages and the tarball, stripped, in target/packages
#   ready      what only the commit of a release has: its tag, its changelog, the address of its repository
#
#   ci/release.sh publish    not among the others: publishes all crates, if `ready` lists no open point
source "$(dirname "$0")/common.sh"
export CARGO_TARGET_DIR=${CARGO_TARGET_DIR:-$PWD/target}
tools=$CARGO_TARGET_DIR/tools
export PATH="$tools/bin:$PATH"

# tool NAME VERSION: installs a tool of cargo, unless it is there in this version.
tool() {
    cargo "${1#cargo-}" --version 2>/dev/null | grep -qF "$2" && return
    step "$1 $2"
    cargo install --locked --root "$tools" --target-dir "$tools/build" "$1@$2"
}

package() {
    step "packages, in a clean clone"
    local clone
    clone=$(mktemp -d)
    git clone -q . "$clone"
    (cd "$clone" && cargo publish --workspace --dry-run --locked)
    rm -rf "$clone"
}

minimal() {
    cargo +nightly --version >/dev/null 2>&1 ||
        { echo "minimal: left out, needs rustup toolchain install nightly" >&2; return; }
    local copy
    copy=$(mktemp -d)
    git ls-files -z | xargs -0 cp --parents -P -t "$copy"
    # Of what the crates name themselves. What those name may be too old for today's compilers.
    (
        cd "$copy"
        cp Cargo.toml all.toml
        step "oldest versions: ondeck alone"
        sed -i 's|^members = .*|members = ["locks/ondeck"]|; /^ondeck-[a-z]* = { version/d; /^\[profile.*\.package\.ondeck-/,/^$/d' Cargo.toml
        cargo +nightly update -Z direct-minimal-versions
        cargo check -p ondeck
        step "oldest versions: the others, some of which need a newer libc"
        mv all.toml Cargo.toml
        sed -i 's/^libc = .*/libc.workspace = true/' locks/ondeck/Cargo.toml
        cargo +nightly update -Z direct-minimal-versions
        cargo check --workspace
    )
    rm -rf "$copy"
}

deny() {
    tool cargo-deny 0.20.2
    step "licenses, sources, duplicates"
    cargo deny --all-features --config ci/deny.toml check bans licenses sources
    step "vulnerabilities"
    # The list of them is fetched.
    cargo deny --all-features --config ci/deny.toml check advisories ||
        echo "vulnerabilities: not checked, or found; see above" >&2
}

semver() {
    local tag
    tag=$(git describe --tags --abbrev=0 2>/dev/null) || { echo "semver: no tag to compare with"; return; }
    tool cargo-semver-checks 0.51.0
    step "interfaces since $tag"
    # Of all features, `shuttle` would replace what the others add to.
    cargo semver-checks --package ondeck --only-explicit-features \
        --features arc_lock,lock_api_04,profile,deadlock_detection,stats --baseline-rev "$tag"
}

abi() {
    local tag old=$CARGO_TARGET_DIR/abi
    tag=$(git describe --tags --abbrev=0 2>/dev/null) || { echo "abi: no tag to compare with"; return; }
    git cat-file -e "$tag:locks/ondeck-capi/link.sh" 2>/dev/null ||
        { echo "abi: $tag has no libondeck to compare with"; return; }
    need_packages abigail-tools
    step "libondeck.so.0 since $tag"
    rm -rf "$old"
    mkdir -p "$old/source"
    git archive "$tag" | tar -x -C "$old/source"
    # All of the types, in target folders of their own.
    export CARGO_PROFILE_NATIVE_DEBUG=full
    CARGO_TARGET_DIR=$old/before "$old/source/locks/ondeck-capi/link.sh"
    CARGO_TARGET_DIR=$old/after locks/ondeck-capi/link.sh
    # Functions may be added. A change is status 4, one that breaks programs 8 as well.
    abidiff --no-added-syms "$old/before/native/lib/libondeck.so.0" "$old/after/native/lib/libondeck.so.0"
}

sbom() {
    tool cargo-cyclonedx 0.5.9
    step "parts"
    mkdir -p "$CARGO_TARGET_DIR/sbom"
    cargo cyclonedx --manifest-path tools/ondeck-cli/Cargo.toml --format json --override-filename ondeck-sbom
    # It writes one for each crate, beside its Cargo.toml.
    local part
    for part in {locks,tools,examples}/*/ondeck-sbom.json; do
        mv "$part" "$CARGO_TARGET_DIR/sbom/$(basename "$(dirname "$part")").json"
    done
    ls "$CARGO_TARGET_DIR/sbom"
}

binaries() {
    step "packages of binaries"
    packaging/deb.sh
    packaging/tarball.sh
}

ready() {
    step "ready to be tagged and published"
    local version lacks=0
    version=$(sed -n '/^\[workspace.package\]/,/^\[/s/^version = "\(.*\)"/\1/p' Cargo.toml)
    lacks() { echo "ready: $1" >&2; lacks=1; }
    [ -z "$(git status --porcelain)" ] || lacks "the tree has changes that are not committed"
    grep -qE "^## \[$version\] - [0-9]{4}-[0-9]{2}-[0-9]{2}" CHANGELOG.md ||
        lacks "CHANGELOG.md has no section '## [$version] - DATE'"
    git tag --points-at HEAD | grep -qx "v$version" || lacks "the commit has no tag v$version"
    grep -q '^repository = "https://' Cargo.toml ||
        lacks "repository in Cargo.toml is no address: write that of the public repository; see docs/releasing.md"
    ! grep -q 'example\.org' packaging/debian/control ||
        lacks "Maintainer in packaging/debian/control is an example: write the address of a person"
    return $lacks
}

publish() {
    ready
    step "publish"
    cargo publish --workspace --locked
}

[ $# -gt 0 ] || set -- package minimal deny abi semver sbom binaries ready
for part in "$@"; do
    case $part in
        package | minimal | deny | abi | semver | sbom | binaries | ready | publish) "$part" ;;
        *) echo "unknown step $part; the head of $0 has all" >&2; exit 2 ;;
    esac
done
