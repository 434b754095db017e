#!/usr/bin/env bash
# Each hazard is caught by the test that its file names.
#
#   ci/mutants.sh              all; 40 minutes on 2 quiet CPUs, 97 on busy ones
#   ci/mutants.sh --quick      a few, one of each kind
#   ci/mutants.sh NAME ...     those of locks/ondeck/tests/mutants/NAME.toml
#
# A hazard is a mistake that is put into the source on purpose: a sentence, a test, and edits, which
# ci/mutants/hazards.py places by the names of steps and functions (docs/add-a-hazard.md). The edited source must
# compile, and the test must then fail. Without a hazard each test must pass.
#
# The edits are made in copies of the project, one for each CPU, and a copy is built again for each hazard: about 10 s.
# A run that was ended goes on where it was, unless a file of the project has changed.
source "$(dirname "$0")/common.sh"
need_packages python3
target=${CARGO_TARGET_DIR:-$PWD/target}
export work=$target/mutants
# A copy of the project as it was at the start, so that edits during the run do not matter.
export original=$work/original
# The names of the hazards that were caught, and the tests that passed without a hazard.
export caught=$work/caught passed=$work/passed
# A test that takes longer than this many seconds counts as hanging. Without a hazard the longest takes 10 to 15 s on a
# quiet machine.
export time_limit=300
# A backtrace of an expected failure takes longer than the test.
export RUST_BACKTRACE=0
# Loom's bounds are those beside the tests.
export ONDECK_LOOM_DEEPER=0

hazards() {
    python3 "$original/ci/mutants/hazards.py" --root "$original" "$@"
}

# Sets tree to this process's copy of the project, and cargo's target folder to one of its own. In a common folder cargo
# would take the copy's crates for the project's, and the project's would seem to be built, with a hazard in them.
own_copy() {
    # shellcheck disable=SC2154 # xargs sets slot.
    tree=$work/$slot/tree
    export CARGO_TARGET_DIR=$work/$slot
    [ ! -d "$tree" ] || return 0
    mkdir -p "$work/$slot"
    cp -r "$original" "$tree"
    # Dependencies need not be compiled again if the project's tests have been built. Hard links suffice: the copy's own
    # crates have another path, and so are compiled into files with other names.
    if [ -d "$work/../debug/deps" ] && [ ! -d "$work/$slot/debug" ]; then
        mkdir -p "$work/$slot/debug"
        cp -rl "$work"/../debug/{.fingerprint,build,deps} "$work/$slot/debug" 2>/dev/null || rm -rf "$work/$slot/debug"
    fi
}

# Builds a test binary of a package in the copy; prints its path, or nothing if it does not compile.
build() {
    local arguments=(-p "$1" --test "$2")
    [ "$2" != lib ] || arguments=(-p "$1" --lib)
    case $1/$2 in ondeck/stats | ondeck/lib) arguments+=(--features stats) ;; esac
    (cd "$tree" && cargo test --locked -q "${arguments[@]}" --no-run --message-format json 2>"$work/$slot/build.log") |
        sed -n 's/.*"executable":"\([^"]*\)".*/\1/p' || true
}

# Runs one test of a package; prints "passed", "failed", "hung" or "missing". Without the last a renamed test would seem to
# pass.
run() {
    local status=0
    (cd "$tree"/*/"$1" && timeout -k 5 "$time_limit" "$2" --exact "$3") >"$work/$slot/run.log" 2>&1 || status=$?
    if [ "$status" -eq 0 ]; then
        if grep -q '^running 0 tests' "$work/$slot/run.log"; then echo missing; else echo passed; fi
    elif [ "$status" -eq 124 ] || [ "$status" -eq 137 ]; then
        echo hung
    else
        echo failed
    fi
}

# Runs a test without a hazard.
without() {
    local result start=$SECONDS executable
    executable=$(build "$1" "$2")
    [ -n "$executable" ] || { cat "$work/$slot/build.log"; return 1; }
    result=$(run "$1" "$executable" "$3")
    printf '%-72s %-8s %3s s\n' "$1 $2 $3" "$result" $((SECONDS - start))
    [ "$result" = passed ] || { tail -n 20 "$work/$slot/run.log"; return 1; }
    printf '%s\t%s\t%s\n' "$1" "$2" "$3" >>"$passed"
}

# Puts one hazard in, and runs its test.
with() {
    local changed executable result name=$1 package=$2 binary=$3 test=$4 hang=$5 start=$SECONDS
    if ! changed=$(hazards apply "$name" --into "$tree" 2>"$work/$slot/apply.log"); then
        result="DOES NOT APPLY"
        cat "$work/$slot/apply.log"
    else
        executable=$(build "$package" "$binary")
        if [ -z "$executable" ]; then
            result="DOES NOT COMPILE"
        else
            result=$(run "$package" "$executable" "$test")
            case $result/$hang in
                failed/*) result=caught ;;
                hung/hang) result="caught (hangs)" ;;
                hung/*) result=HANGS ;;
                *) result=SURVIVES ;;
            esac
        fi
        (cd "$original" && xargs -d '\n' cp --parents -t "$tree" <<<"$changed")
    fi
    printf '%-36s %-16s %3s s  %s\n' "$name" "$result" $((SECONDS - start)) "$binary::$test"
    [[ $result != caught* ]] || echo "$name" >>"$caught"
}

# This script calls itself below for a part, one for each CPU at a time.
if [ "${1:-}" = --one ]; then
    own_copy
    IFS=$'\t' read -ra words <<<"$2"
    "${words[@]}"
    exit
fi
all() {
    xargs -r -d '\n' -n 1 -P "$(nproc)" --process-slot-var=slot bash ci/mutants.sh --one
}

rm -rf "$original" "$work"/*/tree
mkdir -p "$original"
git ls-files -z --cached --others --exclude-standard | xargs -0 cp --parents -t "$original"
sum=$(cd "$original" && find locks tools Cargo.* ci/mutants -type f | LC_ALL=C sort | xargs -d '\n' sha256sum | sha256sum)
if [ "$sum" != "$(cat "$work/sum" 2>/dev/null)" ]; then
    rm -f "$caught" "$passed"
    echo "$sum" >"$work/sum"
fi
touch "$caught" "$passed"
listed=$(hazards list "$@")

step "without a hazard"
cut -f 2-4 <<<"$listed" | sort -u | { grep -vxFf "$passed" || true; } | sed 's/^/without\t/' | all ||
    { echo "a test fails without a hazard"; exit 1; }

step "with one hazard each"
# Prints the listed hazards that have not been caught.
missed() {
    awk -F '\t' 'FILENAME == ARGV[1] { caught[$1]; next } !($1 in caught)' "$caught" - <<<"$listed"
}
missed | sed 's/^/with\t/' | all
missed=$(missed | cut -f 1 | xargs)
step "$(wc -l <<<"$listed") hazards, ${missed:-all} ${missed:+NOT }caught"
[ -z "$missed" ]
