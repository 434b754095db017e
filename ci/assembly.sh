#!/usr/bin/env bash
# docs/data/assembly.md has the instructions that the compiler makes of the mutex's lock and unlock, on three machines.
#
#   ci/assembly.sh            writes them
#   ci/assembly.sh --check    compares them; skipped with another compiler than the page names
source "$(dirname "$0")/common.sh"
need_packages python3
page=docs/data/assembly.md
compiler=$(rustc --version | cut -d ' ' -f 2)
named=$(grep "^Compiler: " "$page" | grep -o "[0-9][0-9.]*[0-9]")
[ "${1:-}" != --check ] || [ "$compiler" = "$named" ] ||
    skip "$page is of rustc $named, and this is rustc $compiler"

export CARGO_TARGET_DIR=${CARGO_TARGET_DIR:-target}
files=()
for machine in x86-64=x86_64 aarch64=aarch64 riscv64=riscv64gc; do
    target=${machine#*=}-unknown-linux-gnu
    need_target "$target"
    step "$target"
    file=$PWD/$CARGO_TARGET_DIR/$target/mutex.s
    [[ $CARGO_TARGET_DIR != /* ]] || file=$CARGO_TARGET_DIR/$target/mutex.s
    flags=(--emit "asm=$file" -C debuginfo=0)
    [ "$target" != x86_64-unknown-linux-gnu ] || flags+=(-C llvm-args=-x86-asm-syntax=intel)
    # Cargo does not know that file: it would not write one that is gone.
    [ -e "$file" ] || touch crates/ondeck/examples/assembly.rs
    cargo rustc --quiet --locked -p ondeck --example assembly --profile native --target "$target" -- "${flags[@]}"
    files+=("${machine%%=*}=$file")
done
python3 ci/assembly.py "$@" "$page" "$compiler" "${files[@]}"
