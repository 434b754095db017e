#!/usr/bin/env bash
# Each hazard is caught by the test that its file names.
#
#   ci/mutants.sh              all; 20 minutes
#   ci/mutants.sh --quick      a few, one of each kind
#   ci/mutants.sh NAME ...     those of crates/ondeck/tests/mutants/NAME.toml
#
# A hazard is a mistake that is put into the source on purpose: a sentence, a test, and edits, which
# ci/mutants/hazards.py places by the names of steps and functions (docs/add-a-hazard.md). The edited source must
# compile, and the test must then fail. Without a hazard each test must pass.
#
# The edits are made in a copy of the project, which is built again for each hazard: about 10 s. The results are
# in hazards/mutants.tsv in the target folder, a line each: the sentence, the name, the test, the tool that runs
# it, and the result, with tabs in between.
source "$(dirname "$0")/common.sh"
need_packages python3
target=${CARGO_TARGET_DIR:-$PWD/target}
work=$target/mutants
# The project as it was at the start, whatever is edited meanwhile; and the copy that hazards are put into.
original=$work/original
tree=$work/tree
results=$target/hazards/mutants.tsv
# A target folder of its own. In a common one cargo would take the copy's crates for the project's, and the
# project's would seem to be built, with a hazard in them.
export CARGO_TARGET_DIR=$work
# A test that has not ended after so many seconds hangs. Without a hazard the longest takes 10 to 15 s on a quiet
# machine.
time_limit=300
# A backtrace of an expected failure is of no use, and takes longer than the test.
export RUST_BACKTRACE=0
# Loom's bounds are those beside the tests.
export ONDECK_LOOM_DEEPER=0

hazards() {
    python3 "$original/ci/mutants/hazards.py" --root "$original" "$@"
}

# Builds a test binary of the copy; prints its path, or nothing if it does not compile.
build() {
    (cd "$tree" && cargo test --locked -q -p ondeck --test "$1" --no-run --message-format json 2>"$work/build.log") |
        grep '"kind":\["test"\]' | sed -n 's/.*"executable":"\([^"]*\)".*/\1/p' || true
}

# Runs one test; prints "passed", "failed", "hung" or "missing". Without the last a renamed test would seem to
# pass.
run() {
    local status=0
    (cd "$tree/crates/ondeck" && timeout -k 5 "$time_limit" "$1" --exact "$2") >"$work/run.log" 2>&1 || status=$?
    if [ "$status" -eq 0 ]; then
        if grep -q '^running 0 tests' "$work/run.log"; then echo missing; else echo passed; fi
    elif [ "$status" -eq 124 ] || [ "$status" -eq 137 ]; then
        echo hung
    else
        echo failed
    fi
}

# What others wrote need not be compiled again, if the project's tests have been built. Hard links: a crate of
# another place, as the copy's are, is compiled into files with other names.
if [ -d "$target/debug/deps" ] && [ ! -d "$work/debug" ]; then
    mkdir -p "$work/debug"
    cp -rl "$target"/debug/{.fingerprint,build,deps} "$work/debug" 2>/dev/null || rm -rf "$work/debug"
fi
rm -rf "$original" "$tree"
mkdir -p "$original" "$(dirname "$results")"
git ls-files -z --cached --others --exclude-standard | xargs -0 cp --parents -t "$original"
cp -r "$original" "$tree"
listed=$(hazards list "$@")
mapfile -t listed <<<"$listed"

step "without a hazard"
bad=0
declare -A fine=()
for line in "${listed[@]}"; do
    IFS=$'\t' read -r _ binary test _ <<<"$line"
    [ -z "${fine[$binary $test]:-}" ] || continue
    [ -n "${fine[$binary]:-}" ] || fine[$binary]=$(build "$binary")
    [ -n "${fine[$binary]}" ] || { cat "$work/build.log"; exit 1; }
    start=$SECONDS
    result=$(run "${fine[$binary]}" "$test")
    fine[$binary $test]=$result
    printf '%-72s %-8s %3s s\n' "$binary $test" "$result" $((SECONDS - start))
    [ "$result" = passed ] || { bad=1; tail -n 20 "$work/run.log"; }
done
[ "$bad" -eq 0 ] || { echo "a test fails without a hazard"; exit 1; }

step "with one hazard each"
: >"$results"
for line in "${listed[@]}"; do
    IFS=$'\t' read -r name binary test hang sentence <<<"$line"
    start=$SECONDS
    if ! changed=$(hazards apply "$name" --into "$tree" 2>"$work/apply.log"); then
        result="DOES NOT APPLY"
        cat "$work/apply.log"
    else
        executable=$(build "$binary")
        if [ -z "$executable" ]; then
            result="DOES NOT COMPILE"
        else
            result=$(run "$executable" "$test")
            case $result/$hang in
                failed/*) result=caught ;;
                hung/hang) result="caught (hangs)" ;;
                hung/*) result=HANGS ;;
                *) result=SURVIVES ;;
            esac
        fi
        (cd "$original" && xargs -d '\n' cp --parents -t "$tree" <<<"$changed")
    fi
    case $binary in
        loom) tool=$binary ;;
        *) tool="real threads" test=$binary::$test ;;
    esac
    printf '%-36s %-16s %3s s  %s\n' "$name" "$result" $((SECONDS - start)) "$test"
    printf '%s\t%s\t%s\t%s\t%s\n' "$sentence" "$name" "$test" "$tool" "$result" >>"$results"
    case $result in caught*) ;; *) bad=1 ;; esac
done
step "${#listed[@]} hazards, $(grep -c $'\tcaught[^\t]*$' "$results" || true) caught"
exit "$bad"
