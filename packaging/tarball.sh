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
# shellcheck source=packaging/options.sh
source "$(dirname "$0")/options.sh"

out=$CARGO_TARGET_DIR/packages cargo_profile=release
options "out cargo-profile" "$@"

version=$(sed -n '/^\[workspace.package\]/,/^\[/s/^version = "\(.*\)"/\1/p' Cargo.toml)
name=ondeck-$version-$(rustc -vV | sed -n 's/^host: //p')
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
packaging/install.sh --prefix /usr/local --destdir "$work/all" --cargo-profile "$cargo_profile" >/dev/null
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
