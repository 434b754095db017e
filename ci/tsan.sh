#!/usr/bin/env bash
# Runs the tests with real threads under ThreadSanitizer: of two accesses to the same place, one of them not
# atomic, one happens before the other.
#
# It needs a compiler with the sanitizer's runtime: a nightly one, or a stable one that is told to behave like one.
# The standard library is compiled without the sanitizer; ci/tsan/suppressions has what is reported because of
# that. Two races must still be reported: one made on purpose, and one by a hazard put into the lock.
#
# ThreadSanitizer knows no fences and no membarrier. No data of these tests is ordered by those, which decide only
# which thread is woken.
source "$(dirname "$0")/common.sh"
need_packages python3
target=x86_64-unknown-linux-gnu
[ "$(uname -m)" = x86_64 ] || skip "ThreadSanitizer is set up for x86-64 only"

# Whether a toolchain has the runtime.
has_runtime() {
    local root
    root=$(rustc "$@" --print sysroot 2>/dev/null) || return 1
    compgen -G "$root/lib/rustlib/$target/lib/librustc-*_rt.tsan.a" >/dev/null
}

toolchain=()
if has_runtime +nightly; then
    toolchain=(+nightly)
elif has_runtime; then
    export RUSTC_BOOTSTRAP=1
else
    skip "no toolchain with librustc-*_rt.tsan.a: rustup toolchain install nightly"
fi
echo "with $(rustc "${toolchain[@]}" --version)"

# Names of symbols are in the suppressions, so they must not depend on the toolchain.
export RUSTFLAGS="-Zsanitizer=thread -Cunsafe-allow-abi-mismatch=sanitizer -Csymbol-mangling-version=v0"
CARGO_TARGET_DIR=$(realpath -m "${CARGO_TARGET_DIR:-target}")/tsan
export CARGO_TARGET_DIR
export TSAN_OPTIONS="suppressions=$PWD/ci/tsan/suppressions exitcode=66 halt_on_error=0"
export ONDECK_STRESS_SECONDS=${ONDECK_STRESS_SECONDS:-2} ONDECK_TEST_ROUNDS=${ONDECK_TEST_ROUNDS:-1000}
tests=(cargo "${toolchain[@]}" test --locked -q --target "$target" -p ondeck)
log=$(mktemp)
trap 'rm -f "$log"' EXIT

# Runs tests in which a race must be reported, in a function of this name.
reported() {
    local status=0
    "${tests[@]}" --test plain -- --nocapture "${@:2}" >"$log" 2>&1 || status=$?
    if [ "$status" -eq 0 ] || ! grep -q "^SUMMARY: ThreadSanitizer: data race .*$1" "$log"; then
        tail -n 30 "$log"
        echo "the race of $1 was not reported"
        exit 1
    fi
    grep -m 1 "^SUMMARY: ThreadSanitizer: data race .*$1" "$log"
}

step "a race on purpose"
reported a_race_on_purpose --ignored

step "the tests"
ONDECK_TEST_ROUNDS=${ONDECK_PLAIN_ROUNDS:-20000} "${tests[@]}" --test plain
# In the two tests that are left out the first thread reads the same data within a scope and after its end. No
# suppression could distinguish the two.
"${tests[@]}" --test stress
"${tests[@]}" --test api -- mutex:: condvar:: parking:: lifetime:: \
    --skip notifications_say_how_many_they_reached \
    --skip waiters_of_one_condvar_may_use_different_mutexes

step "a hazard: the store that unlocks is relaxed"
tree=$CARGO_TARGET_DIR/tree
rm -rf "$tree"
mkdir -p "$tree"
git ls-files -z --cached --others --exclude-standard | xargs -0 cp --parents -t "$tree"
python3 ci/mutants/hazards.py apply unlock_relaxed --into "$tree"
cd "$tree"
reported sections_exclude_each_other sections_exclude_each_other
