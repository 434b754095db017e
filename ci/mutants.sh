#!/usr/bin/env bash
# Every hazard put into the lock is caught by the test that is said to catch it.
#
# A hazard is a patch in crates/ondeck/tests/mutants, against the project's root. It begins with:
#
#   Hazard: what goes wrong, in a sentence
#   Test: the test binary of crates/ondeck, then what it is to run: one test's full name
#   Hang: yes                  only where a test that does not end counts as caught
#   Quick: yes                 only where it is one of those that --quick tries
#
# The patched tree must compile, and the test must then fail; without a patch each must pass. The
# tree is a copy, the next one of which is built on the last: about 10 s a patch.
#
# With --quick: a few of them, one of each kind. With names, without folder and ending: only those.
# What came of each is written to hazards/mutants.tsv in the target folder: the hazard, the patch,
# the test, what runs it, and the result, with a tab between them.
source "$(dirname "$0")/common.sh"
need_packages patch
folder=crates/ondeck/tests/mutants
target=${CARGO_TARGET_DIR:-$PWD/target}
work=$target/mutants
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

# The value of a patch's header.
header() {
    sed -n "/^--- /q; s/^$2: //p" "$1"
}

# Builds a test binary of the copy; prints its path, or nothing if it does not compile.
build() {
    (cd "$tree" && cargo test --locked -q -p ondeck --test "$1" --no-run --message-format json 2>"$work/build.log") |
        grep '"kind":\["test"\]' | sed -n 's/.*"executable":"\([^"]*\)".*/\1/p'
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

case ${1:-} in
    '') patches=("$folder"/*.patch) ;;
    --quick) mapfile -t patches < <(grep -lx 'Quick: yes' "$folder"/*.patch) ;;
    *) patches=("${@/#/$folder/}") patches=("${patches[@]/%/.patch}") ;;
esac

rm -rf "$tree"
mkdir -p "$tree" "$(dirname "$results")"
git ls-files -z --cached --others --exclude-standard | xargs -0 cp --parents -t "$tree"

step "without a hazard"
bad=0
declare -A fine=()
for patch in "${patches[@]}"; do
    read -r binary name < <(header "$patch" Test)
    [ -z "${fine[$binary $name]:-}" ] || continue
    [ -n "${fine[$binary]:-}" ] || fine[$binary]=$(build "$binary")
    [ -n "${fine[$binary]}" ] || { cat "$work/build.log"; exit 1; }
    start=$SECONDS
    result=$(run "${fine[$binary]}" "$name")
    fine[$binary $name]=$result
    printf '%-72s %-8s %3s s\n' "$binary $name" "$result" $((SECONDS - start))
    [ "$result" = passed ] || { bad=1; tail -n 20 "$work/run.log"; }
done
[ "$bad" -eq 0 ] || { echo "a test fails without a hazard"; exit 1; }

step "with one hazard each"
: >"$results"
for patch in "${patches[@]}"; do
    read -r binary name < <(header "$patch" Test)
    start=$SECONDS
    if ! patch -d "$tree" -p1 -s --no-backup-if-mismatch <"$patch" >"$work/patch.log" 2>&1; then
        result="DOES NOT APPLY"
        # Half of it may have: from the start again.
        git ls-files -z crates/ondeck/src | xargs -0 cp --parents -t "$tree"
        find "$tree/crates/ondeck/src" -name '*.rej' -delete
    else
        executable=$(build "$binary")
        if [ -z "$executable" ]; then
            result="DOES NOT COMPILE"
        else
            result=$(run "$executable" "$name")
            case $result/$(header "$patch" Hang) in
                failed/*) result=caught ;;
                hung/yes) result="caught (hangs)" ;;
                hung/*) result=HANGS ;;
                *) result=SURVIVES ;;
            esac
        fi
        patch -d "$tree" -p1 -s -R --no-backup-if-mismatch <"$patch"
    fi
    case $binary in
        loom | shuttle) tool=$binary ;;
        *) tool="real threads" name=$binary::$name ;;
    esac
    printf '%-36s %-16s %3s s  %s\n' "$(basename "$patch" .patch)" "$result" $((SECONDS - start)) "$name"
    printf '%s\t%s\t%s\t%s\t%s\n' \
        "$(header "$patch" Hazard)" "$(basename "$patch" .patch)" "$name" "$tool" "$result" >>"$results"
    case $result in caught*) ;; *) bad=1 ;; esac
done
step "${#patches[@]} hazards, $(grep -c $'\tcaught[^\t]*$' "$results" || true) caught"
exit "$bad"
