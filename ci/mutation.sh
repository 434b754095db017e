#!/usr/bin/env bash
# A test notices every small change of the algorithms, or ci/mutation-survivors.txt says why none need.
#
# cargo-mutants makes one change at a time, of an operator, a condition or a function's result. Each mutant goes
# through two stages:
#
#   quick   the tests of the interfaces, of stopped threads and of stress, one at a time, with fewer rounds
#   loom    the model checker with one switch less, for mutants that survive the first stage
#
# A mutant that hangs counts as caught, because a lost wake is a hang. The list names a survivor by its file, the
# text of the line, and the change, so that it stays right when lines are added above. The survivors of the present
# core have not been listed yet, so the script ends with 1 and prints them.
#
# Arguments go to cargo-mutants, to run a part: --shard 0/8, or --re 'lock.rs.* in .*arrive'. With
# ONDECK_MUTATION_STAGE=quick the second stage is left out, and mutants that only it can catch survive. Writes
# mutation/survivors.txt and folders with logs to the target folder. All of it takes hours.
source "$(dirname "$0")/common.sh"
version=27.1.0
list=$PWD/ci/mutation-survivors.txt
folder=${CARGO_TARGET_DIR:-$PWD/target}/mutation
tree=$folder/tree
tools=${CARGO_TARGET_DIR:-$PWD/target}/tools
export PATH="$tools/bin:$PATH"
cargo mutants --version 2>/dev/null | grep -qx "cargo-mutants $version" ||
    cargo install --locked --root "$tools" --target-dir "$tools/build" "cargo-mutants@$version" ||
    skip "cannot install cargo-mutants $version"

# The tree is a copy that is mutated in place, so that each build changes little.
rm -rf "$tree"
mkdir -p "$tree"
git ls-files -z --cached --others --exclude-standard | xargs -0 cp --parents -t "$tree"
cd "$tree"

export CARGO_TARGET_DIR=$folder/build CARGO_PROFILE_DEV_DEBUG=0 RUST_BACKTRACE=0
export ONDECK_TEST_ROUNDS=100 ONDECK_STRESS_SECONDS=0.1
# For the harness's --fail-fast. One test runs at a time: a lock of another test in the same bucket would make some
# tests fail, and the mutant would seem to be caught.
export RUSTC_BOOTSTRAP=1
# Tests that run others again in a child would take most of the time.
harness=(-Zunstable-options --fail-fast --test-threads 1 --skip the_suite_passes)
host=$(rustc -vV | sed -n 's/^host: //p' | tr 'a-z-' 'A-Z_')

# From now on a program hangs that has used so many seconds of CPU time.
hang_after() {
    export "CARGO_TARGET_${host}_RUNNER=$tree/ci/until-hung.sh $1"
}

# Runs one stage, into a folder of its own, with options for cargo-mutants.
stage() {
    local name=$1 status=0
    shift
    rm -rf "${folder:?}/$name"
    mkdir -p "$folder/$name"
    # The runner ends hangs; the timeout is for a machine that stands still. 2: some were missed; 3: some ran out of
    # time.
    cargo mutants --in-place --baseline skip --timeout 1800 --cap-lints true -o "$folder/$name" \
        "$@" -- -- "${harness[@]}" || status=$?
    case $status in 0 | 2 | 3) ;; *) exit "$status" ;; esac
}

step "without a mutant"
tests=(--lib --test=api --test=hooked --test=stress --test=single_thread)
hang_after 60
cargo test --locked -q -p ondeck --all-features "${tests[@]}" -- "${harness[@]}"

step "quick"
stage quick "${tests[@]/#/-C=}" "$@"

step "loom"
quick=$folder/quick/mutants.out
loom=$folder/loom/mutants.out
if [ "${ONDECK_MUTATION_STAGE:-}" = quick ] || [ ! -s "$quick/missed.txt" ]; then
    rm -rf "$folder/loom"
    mkdir -p "$loom"
    cp "$quick/missed.txt" "$loom/missed.txt"
else
    names=()
    while IFS= read -r name; do
        # shellcheck disable=SC2001,SC2016 # no shell pattern can do it, and nothing is to be expanded
        names+=(--re "^$(sed 's/[][\\.*^$(){}?+|]/\\&/g' <<<"$name")\$")
    done <"$quick/missed.txt"
    # It takes 20 s instead of minutes.
    export ONDECK_LOOM_DEEPER=-1
    hang_after 600
    stage loom -C=--test=loom --profile release "${names[@]}"
fi

step "survivors"
# A mutant's name without its place in the file, but with the text of that line.
by_text() {
    local file line change
    while IFS=: read -r file line _ change; do
        printf '%s | %s | %s\n' "${file#crates/ondeck/src/}" "$(sed -n "${line}s/^ *//p" "$file")" "${change# }"
    done
}
count() {
    cat "$@" 2>/dev/null | wc -l
}
by_text <"$loom/missed.txt" | sort >"$folder/survivors.txt"
bad=0
while IFS= read -r survivor; do
    if ! grep -qF "$survivor | " "$list"; then
        echo "not explained: $survivor"
        bad=1
    fi
done <"$folder/survivors.txt"
for name in quick loom; do
    out=$folder/$name/mutants.out
    hung=$({ grep -l 'Failure(124)' "$out"/log/* 2>/dev/null || true; } | wc -l)
    echo "$name: $(count "$out/caught.txt") caught ($hung of them hung), $(count "$out/timeout.txt") out of time," \
        "$(count "$out/missed.txt") missed, $(count "$out/unviable.txt") do not compile"
done
exit "$bad"
