#!/usr/bin/env bash
# Makes ondeck-VERSION-TARGET.tar.gz: what packaging/install.sh installs, stripped, to be unpacked into any folder.
#
#   packaging/tarball.sh [--out FOLDER] [--cargo-profile NAME]
#
#   --out             where it goes: packages in cargo's target folder
#   --cargo-profile   how the command is built: release
#
#   tar -xzf ondeck-*.tar.gz --strip-components=1 -C /usr/local    installs it
#
# The command finds the libraries that it preloads beside its own folder, wherever that is; the pkg-config file names /usr/local.
set -euo pipefail
cd "$(dirname "$0")/.."

export CARGO_TARGET_DIR=${CARGO_TARGET_DIR:-$PWD/target}
out=$CARGO_TARGET_DIR/packages profile=release
while [ $# -gt 0 ]; do
    case $1 in
        # The head of this file, without the first line.
        -h | --help) sed -n '2,/^set /{/^set /!s/^# \{0,1\}//p;}' "$0"; exit 0 ;;
    esac
    [ $# -gt 1 ] || { echo "$1 needs a value; the head of $0 says which" >&2; exit 2; }
    case $1 in
        --out) out=$2 ;;
        --cargo-profile) profile=$2 ;;
        *) echo "unknown option $1; the head of $0 has all" >&2; exit 2 ;;
    esac
    shift 2
done

version=$(sed -n '/^\[workspace.package\]/,/^\[/s/^version = "\(.*\)"/\1/p' Cargo.toml)
name=ondeck-$version-$(rustc -vV | sed -n 's/^host: //p')
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
packaging/install.sh --prefix /usr/local --destdir "$work/all" --cargo-profile "$profile" >/dev/null
mv "$work/all/usr/local" "$work/$name"
strip --strip-unneeded "$work/$name/bin/ondeck" "$work/$name"/lib/ondeck/libondeck_*.so \
    "$work/$name/lib/libondeck.so.0"
strip --strip-debug "$work/$name/lib/libondeck.a"
install -D -m 644 -t "$work/$name/share/doc/ondeck" LICENSE-APACHE LICENSE-MIT CHANGELOG.md

mkdir -p "$out"
# Files have the time of the last commit, so that the same source makes the same file.
time=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct 2>/dev/null || date +%s)}
tar -C "$work" --sort=name --owner=0 --group=0 --numeric-owner --mtime="@$time" -cf - "$name" |
    gzip -9n >"$out/$name.tar.gz"
(cd "$out" && sha256sum "$name.tar.gz" | tee "$name.tar.gz.sha256")
