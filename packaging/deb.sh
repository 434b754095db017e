#!/usr/bin/env bash
# Makes the Debian packages: ondeck (the command and what it preloads), libondeck0, libondeck-dev.
#
#   packaging/deb.sh [--out FOLDER] [--cargo-profile NAME]
#
#   --out             where the packages go: packages in cargo's target folder
#   --cargo-profile   how the command is built: release
#
# What is packed is what packaging/install.sh installs. The tools are those of dpkg-dev. If lintian is there, its
# errors are errors of this script; that no bug asked for the package is none.
# shellcheck source=packaging/options.sh
source "$(dirname "$0")/options.sh"

out=$CARGO_TARGET_DIR/packages cargo_profile=release
options "out cargo-profile" "$@"
for tool in dpkg-deb dpkg-shlibdeps dpkg-gensymbols dpkg-gencontrol; do
    command -v "$tool" >/dev/null || { echo "no $tool; install the package dpkg-dev" >&2; exit 2; }
done

version=$(sed -n '/^\[workspace.package\]/,/^\[/s/^version = "\(.*\)"/\1/p' Cargo.toml)
multiarch=$(dpkg-architecture -qDEB_HOST_MULTIARCH)
# Files have the time of the last commit, so that the same source makes the same package.
SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct 2>/dev/null || date +%s)}
export SOURCE_DATE_EPOCH

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
packaging/install.sh --prefix /usr --libdir "/usr/lib/$multiarch" --destdir "$work/all" --cargo-profile "$cargo_profile"

# dpkg's tools want a source tree around them.
mkdir "$work/debian"
cp packaging/debian/control "$work/debian"
{
    cat packaging/debian/copyright
    # A blank in front of each line and a point for an empty one are of the format.
    sed -e 's/^$/./' -e 's/^/ /' LICENSE-MIT
} >"$work/debian/copyright"
cat >"$work/debian/changelog" <<END
ondeck ($version-1) unstable; urgency=medium

  * Version $version; its changes are in changelog.gz.

 -- $(sed -n 's/^Maintainer: //p' packaging/debian/control)  $(date -R -u -d "@$SOURCE_DATE_EPOCH")
END

# take PACKAGE PATTERN...: moves what was installed into the tree of a package.
take() {
    local tree=$work/$1 pattern file
    shift
    for pattern in "$@"; do
        # Expanded on purpose: it is a pattern.
        # shellcheck disable=SC2086
        for file in $(cd "$work/all" && echo $pattern); do
            mkdir -p "$tree/$(dirname "$file")"
            mv "$work/all/$file" "$tree/$file"
        done
    done
}
lib=usr/lib/$multiarch
take libondeck0 "$lib/libondeck.so.*"
take libondeck-dev "$lib/libondeck.so $lib/libondeck.a" "$lib/pkgconfig/*" "usr/include/*"
# Debian's shells look there.
mkdir -p "$work/all/usr/share/zsh/vendor-completions"
mv "$work"/all/usr/share/zsh/site-functions/* "$work/all/usr/share/zsh/vendor-completions"
rmdir "$work/all/usr/share/zsh/site-functions"
take ondeck usr/bin/* usr/lib/ondeck/* usr/share/man/man1/* usr/share/bash-completion/completions/* \
    usr/share/zsh/vendor-completions/* usr/share/fish/vendor_completions.d/*
left=$(find "$work/all" ! -type d)
[ -z "$left" ] || { echo "in no package: $left" >&2; exit 1; }

# The changelog that users of a package read, and what every package has.
documents() {
    local doc=$work/$1/usr/share/doc/$1
    mkdir -p "$doc"
    cp "$work/debian/copyright" "$doc"
    gzip -9nc CHANGELOG.md >"$doc/changelog.gz"
    gzip -9nc "$work/debian/changelog" >"$doc/changelog.Debian.gz"
}
# What a program needs that was linked with the library: at least this version of it.
shared() {
    local control=$work/$1/DEBIAN
    mkdir -p "$control"
    echo 'activate-noawait ldconfig' >"$control/triggers"
    echo "libondeck 0 $1 (>= $version)" >"$control/shlibs"
    (cd "$work" && dpkg-gensymbols -q -p"$1" -v"$version" -P"$work/$1" -O"$control/symbols")
}
strip --strip-unneeded "$work/ondeck/usr/bin/ondeck" "$work/ondeck"/usr/lib/ondeck/libondeck_*.so \
    "$work/libondeck0/$lib"/libondeck.so.*
strip --strip-debug "$work/libondeck-dev/$lib/libondeck.a"
find "$work/ondeck/usr/share/man" -name '*.1' -exec gzip -9n {} +
shared libondeck0

mkdir -p "$out"
# What is not to be shipped is not worth the time.
level=6
[ "$cargo_profile" = release ] || level=0
for package in ondeck libondeck0 libondeck-dev; do
    tree=$work/$package
    mkdir -p "$tree/DEBIAN"
    documents "$package"
    # Of executables and shared libraries; the development files need none.
    mapfile -t binaries < <(find "$tree" -path '*/DEBIAN' -prune -o -type f \( -path '*/bin/*' -o -name '*.so*' \) -print)
    (
        cd "$work"
        substitutions=debian/$package.substvars
        : >"$substitutions"
        [ ${#binaries[@]} -eq 0 ] || dpkg-shlibdeps -T"$substitutions" "${binaries[@]}"
        dpkg-gencontrol -p"$package" -P"$tree" -T"$substitutions" -O"$tree/DEBIAN/control"
    )
    (cd "$tree" && find . -path ./DEBIAN -prune -o -type f -printf '%P\0' | sort -z | xargs -0 md5sum) \
        >"$tree/DEBIAN/md5sums"
    find "$tree" -exec touch -h -d "@$SOURCE_DATE_EPOCH" {} +
    dpkg-deb --root-owner-group -Zxz "-z$level" --build "$tree" "$out" >/dev/null
done
packages=("$out"/ondeck_"$version"-1_*.deb "$out"/libondeck0_"$version"-1_*.deb "$out"/libondeck-dev_"$version"-1_*.deb)
if command -v lintian >/dev/null; then
    lintian --fail-on error --tag-display-limit 0 --suppress-tags initial-upload-closes-no-bugs "${packages[@]}"
fi
printf '%s\n' "${packages[@]}"
