#!/usr/bin/env bash
# Every hazard put into the lock is caught by the test that is said to catch it.
#
# A hazard is a file in crates/ondeck/tests/mutants: a sentence, a test, and edits of the source, which
# ci/mutants/hazards.py finds by the names of steps and functions. docs/add-a-hazard.md describes it.
#
# The edited tree must compile, and the test must then fail; without a hazard each test must pass. The
# tree is a copy, the next one of which is built on the last: about 10 s a hazard.
#
# With --quick: a few of them, one of each kind. With names, without folder and ending: only those.
# What came of each is written to hazards/mutants.tsv in the target folder: the sentence, the name,
# the test, what runs it, and the result, with a tab between them.
source "$(dirname "$0")/common.sh"
need_packages python3
target=${CARGO_TARGET_DIR:-$PWD/target}
work=$target/mutants
# As the project was at the start, whoever edits it meanwhile; and the copy that hazards are put into.
original=$work/original
tree=$work/tree
results=$target/hazards/mutants.tsv
# A target folder of its own: to cargo the copy's crates are the project's, which would then be taken
# for built, with a hazard in them.
export CARGO_TARGET_DIR=$work
# A test that has not ended after so many seconds hangs. Without a hazard the longest takes 10 to 15 s
# on a quiet machine.
patience=300
# Frames of a failure that is expected are of no use, and cost more than the test.
export RUST_BACKTRACE=0
# Loom's bounds as they stand beside the tests.
export ONDECK_LOOM_DEEPER=0

hazards() {
    python3 "$original/ci/mutants/hazards.py" --root "$original" "$@"
}

# Builds a test binary of the copy; prints its path, or nothing if it does not compile.
build() {
    (cd "$tree" && cargo test --locked -q -p ondeck --test "$1" --no-run --message-format json 2>"$work/build.log") |
        grep '"kind":\["test"\]' | sed -n 's/.*"executable":"\([^"]*\)".*/\1/p' || true
}

# Runs one test; prints "passed", "failed" or "hung". A name that matches no test is an error, or a
# renamed one would seem to pass.
run() {
    local status=0
    (cd "$tree/crates/ondeck" && timeout -k 5 "$patience" "$1" --exact "$2") >"$work/run.log" 2>&1 || status=$?
    if [ "$status" -eq 0 ]; then
        if grep -q '^running 0 tests' "$work/run.log"; then echo missing; else echo passed; fi
    elif [ "$status" -eq 124 ] || [ "$status" -eq 137 ]; then
        echo hung
    else
        echo failed
    fi
}

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
        loom | shuttle) tool=$binary ;;
        *) tool="real threads" test=$binary::$test ;;
    esac
    printf '%-36s %-16s %3s s  %s\n' "$name" "$result" $((SECONDS - start)) "$test"
    printf '%s\t%s\t%s\t%s\t%s\n' "$sentence" "$name" "$test" "$tool" "$result" >>"$results"
    case $result in caught*) ;; *) bad=1 ;; esac
done
step "${#listed[@]} hazards, $(grep -c $'\tcaught[^\t]*$' "$results" || true) caught"
exit "$bad"
