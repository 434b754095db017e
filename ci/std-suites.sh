#!/usr/bin/env bash
# Runs the standard library's own tests of its locks with those of crate ondeck in their place: `poison`'s `Mutex`, `RwLock`
# and `Condvar`, `Once`, `OnceLock`, `LazyLock`, `Barrier`, and `ReentrantMutex` for `ReentrantLock`.
#
# The tests are those of the installed compiler's sources. They are copied into the target folder with `crate::sync` for
# `std::sync`, which is ci/std-suites/sync.rs. What of the standard library is unstable needs RUSTC_BOOTSTRAP.
#
# The locks of the standard library that have no poison are its own, and their tests are left out. No other is.
source "$(dirname "$0")/common.sh"
here=$PWD
files=(barrier condvar lazy_lock mutex once once_lock reentrant_lock rwlock)

tests=$(rustc --print sysroot)/lib/rustlib/src/rust/library/std/tests/sync
[ -d "$tests" ] || rustup component add rust-src || skip "needs the compiler's sources: rustup component add rust-src"

made=$(realpath -m "${CARGO_TARGET_DIR:-target}")/std-suites
export CARGO_TARGET_DIR=$made/target
mkdir -p "$made/src"
cp Cargo.lock "$made"
cat >"$made/Cargo.toml" <<EOF
[workspace]
[package]
name = "std-suites"
edition = "2024"
[dependencies]
fastrand = "2.5.0"
ondeck = { path = "$here/locks/ondeck" }
EOF

# The modules of other tests go, and so do the sources that come with rand.
{
    sed -E -e '/^#\[cfg\(not\(any\(target_os/d' -e '/^#\[path/d' -e '/^mod (mpmc|mpsc|mpsc_sync|oneshot|common);/d' \
        -e 's/::std::sync/crate::sync/' "$tests/lib.rs"
    echo "#[path = \"$here/ci/std-suites/sync.rs\"] pub mod sync;"
    echo "#[path = \"$here/ci/std-suites/random.rs\"] mod common;"
} >"$made/src/lib.rs"
for file in "${files[@]}"; do
    sed -E -e 's/std::sync/crate::sync/g' -e 's/^use rand::/use crate::common::/' "$tests/$file.rs" >"$made/src/$file.rs"
done

cd "$made"
log=$made/log
without=(--skip nonpoison_ --skip test_mutex_with_mut --skip test_rwlock_with)
step "the tests of rustc $(rustc --version | cut -d' ' -f2)"
status=0
RUSTC_BOOTSTRAP=1 RUSTFLAGS="${RUSTFLAGS:-} -Awarnings" cargo test --lib -- "${without[@]}" >"$log" 2>&1 || status=$?
for file in "${files[@]}"; do
    printf '%-15s %3d of %3d pass\n' "$file" \
        "$(grep -c "^test $file::.* \.\.\. ok$" "$log" || true)" "$(grep -c "^test $file::" "$log" || true)"
done
grep '^test result: ' "$log" || true
[ "$status" -eq 0 ] || cat "$log"
exit "$status"
