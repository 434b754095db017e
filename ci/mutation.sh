#!/usr/bin/env bash
# A test notices every small change of the locks, or ci/mutation-survivors.txt says why none needs to.
#
#   ci/mutation.sh                        goes on where the last run was ended, until all have a verdict: days
#   ci/mutation.sh --seconds 28800        for a night
#   ci/mutation.sh --shard 0/8            a part, for several machines
#   ci/mutation.sh --file rwlock/wait.rs  what a commit touches
#   ci/mutation.sh --seed 2               in another order
#
# ci/mutants/drawn.py makes the changes, one at a time, in an order that is drawn: so a run of any length has a sample.
# Each goes through the hooked tests, the model checker with one switch less, and the tests of the interfaces, those of
# the lock alone if the file is that of one lock, until one fails. A test that hangs notices it too, because a lost wake
# is a hang. The verdicts are in mutation/verdicts.tsv in the target folder: delete it to begin anew. A verdict holds for
# as long as the mutated file is the same.
#
# The list names what no test notices by its file, the text of the line, and the change, so that it stays right when
# lines are added above. The script ends with 1 and prints those that are not in the list.
source "$(dirname "$0")/common.sh"
need_packages python3
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
# For the harness's --fail-fast. One test runs at a time: a lock of another test in the same bucket would make some
# tests fail, and the mutant would seem to be caught.
export RUSTC_BOOTSTRAP=1
export ONDECK_TEST_ROUNDS=100 ONDECK_LOOM_DEEPER=-1

step "one by one"
python3 ci/mutants/drawn.py run --verdicts "$folder/verdicts.tsv" "$@"

step "verdicts"
cut -f 5 "$folder/verdicts.tsv" | sort | uniq -c
bad=0
while IFS=$'\t' read -r _ file line change verdict _; do
    name="${file#crates/ondeck/src/} | $line | $change"
    if [ "$verdict" = missed ] && ! grep -qF "$name | " "$list"; then
        echo "not explained: $name"
        bad=1
    fi
done <"$folder/verdicts.tsv"
exit "$bad"
