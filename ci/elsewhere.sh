#!/usr/bin/env bash
# The library for C where it is not on 64-bit Linux with glibc: `ci/elsewhere.sh [--check]`.
#
#   --check  the compiler and clippy only
#
# It compiles for Windows, macOS, FreeBSD, musl and 32 bits. Under Wine it does what a program in C asks of it. Ends
# with 77 if Wine or MinGW cannot be installed.
source "$(dirname "$0")/common.sh"

windows=x86_64-pc-windows-gnu
: "${CARGO_TARGET_DIR:=$PWD/target}"
export CARGO_TARGET_DIR

for target in $windows aarch64-apple-darwin x86_64-apple-darwin x86_64-unknown-freebsd x86_64-unknown-linux-musl \
    i686-unknown-linux-gnu; do
    step "$target, compiled"
    need_target "$target"
    cargo clippy --locked -q --target "$target" -p ondeck-capi -- -D warnings
done
[ "${1-}" != --check ] || exit 0

step "Windows, run under Wine"
need_packages wine wine64 gcc-mingw-w64-x86-64
for tool in wine x86_64-w64-mingw32-gcc; do
    command -v "$tool" >/dev/null || skip "no $tool"
done
export CARGO_TARGET_X86_64_PC_WINDOWS_GNU_LINKER=x86_64-w64-mingw32-gcc
cargo build --locked -q --target $windows -p ondeck-capi
built=$CARGO_TARGET_DIR/$windows/debug
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
x86_64-w64-mingw32-gcc -shared -o "$built/bcryptprimitives.dll" ci/systems/bcryptprimitives.c -ladvapi32
x86_64-w64-mingw32-gcc -Wall -Wextra -Werror -Ilocks/ondeck-capi/include -o "$built/locks.exe" ci/elsewhere/locks.c \
    "$built/libondeck_capi.a" -lkernel32 -lntdll -luserenv -lws2_32 -ldbghelp
export WINEDEBUG=-all WINEPREFIX=$folder/wine

(cd "$folder" && timeout -s KILL 600 wine "$built/locks.exe" >out 2>&1) || { cat "$folder/out"; exit 1; }
grep -qF "80000 pairs with ondeck" "$folder/out" || { cat "$folder/out"; echo "the pairs of threads are not counted"; exit 1; }
echo "elsewhere: passed"
