#!/usr/bin/env bash
# The ordinary tests of crates/ondeck run at least 95 % of its lines and of its branches. Loom's tests do not
# count: they run the same sources on another platform.
#
# A line or branch counts once, however often it is compiled. ci/uncovered.txt lists what no test can reach on
# this machine, with the reason; those lines are left out. Writes coverage.lcov and coverage.txt to the target
# folder.
#
# Counting branches needs an unstable option of the compiler. Reading its profiles needs rustup's llvm-tools, or
# Debian's LLVM if that is new enough.
source "$(dirname "$0")/common.sh"
version=0.9.1
least=95
export CARGO_TARGET_DIR=${CARGO_TARGET_DIR:-$PWD/target}
tools=$CARGO_TARGET_DIR/tools
export PATH="$tools/bin:$PATH" RUSTC_BOOTSTRAP=1

probe=$(mktemp -d)
trap 'rm -rf "$probe"' EXIT
printf 'fn main() { println!("{}", if std::env::args().count() > 1 { 1 } else { 2 }); }\n' >"$probe/main.rs"

# Whether the tools in this folder can read the profiles of the compiler's programs.
reads() {
    [ -x "$1/llvm-profdata" ] && [ -x "$1/llvm-cov" ] &&
        "$1/llvm-profdata" merge "$probe/main.profraw" -o "$probe/main.profdata" 2>/dev/null &&
        "$1/llvm-cov" report -instr-profile "$probe/main.profdata" "$probe/main" >"$probe/report" 2>/dev/null &&
        grep -q '^TOTAL' "$probe/report"
}

# Prints the first folder of tools that can: the compiler's own, then Debian's, the newest first.
find_tools() {
    local folder
    for folder in "$(rustc --print sysroot)"/lib/rustlib/*/bin $(printf '%s\n' /usr/lib/llvm-*/bin | sort -rV); do
        if reads "$folder"; then
            echo "$folder"
            return
        fi
    done
}

step "tools"
rustc -C instrument-coverage -Z coverage-options=branch -o "$probe/main" "$probe/main.rs" ||
    skip "this compiler cannot count branches"
LLVM_PROFILE_FILE="$probe/main.profraw" "$probe/main" >"$probe/out"
llvm=$(find_tools)
if [ -z "$llvm" ]; then
    newest=$(apt-cache search --names-only '^llvm-[0-9]+$' 2>/dev/null | sed 's/ .*//' | sort -rV | head -n 1)
    [ -n "$newest" ] || skip "needs llvm-profdata and llvm-cov"
    need_packages "$newest"
    llvm=$(find_tools)
fi
[ -n "$llvm" ] || skip "no llvm-profdata reads the profiles of $(rustc --version)"
need_packages jq
cargo llvm-cov --version 2>/dev/null | grep -qx "cargo-llvm-cov $version" ||
    cargo install --locked --root "$tools" --target-dir "$tools/build" "cargo-llvm-cov@$version" ||
    skip "cannot install cargo-llvm-cov $version"
export LLVM_COV="$llvm/llvm-cov" LLVM_PROFDATA="$llvm/llvm-profdata"
echo "$llvm, cargo-llvm-cov $version"

step "tests"
# The counters are in a mapped file. So a process that ends by a signal or by _exit counts, too, and a forked
# child.
export RUSTFLAGS="${RUSTFLAGS:-} -Cllvm-args=--runtime-counter-relocation"
export LLVM_PROFILE_FILE_NAME='ondeck-%p%c.profraw'
cargo llvm-cov clean --workspace
tests=()
for file in crates/ondeck/tests/*.rs crates/ondeck/tests/*/main.rs; do
    name=$(basename "${file%/main.rs}" .rs)
    [ "$name" = loom ] || tests+=(--test "$name")
done
cargo llvm-cov test --branch --no-report --locked -p ondeck --all-features --lib "${tests[@]}"

step "coverage"
cargo llvm-cov report -p ondeck --lcov --output-path "$probe/lcov"
cargo llvm-cov report -p ondeck --json --output-path "$probe/json"
cp "$probe/lcov" "$CARGO_TARGET_DIR/coverage.lcov"

# Line by line: file, line, column and direction of a branch or "-", how often it was run.
records() {
    awk -F '[:,]' '/^SF:/ { file = $2 } /^DA:/ { print file, $2, "-", $3 }' OFS='\t' "$probe/lcov"
    jq -r '.data[0].functions[] | .filenames as $files | .branches[] |
        [$files[.[6]], .[0], "\(.[1])-\(.[3])"] as $place |
        ($place + ["true", .[4]], $place + ["false", .[5]]) | @tsv' "$probe/json" |
        awk -F '\t' '{ runs[$1 FS $2 FS $3 " " $4] += $5 } END { for (place in runs) print place, runs[place] }' OFS='\t'
}
records | grep -F "$PWD/crates/ondeck/src/" | sed "s|^$PWD/crates/ondeck/src/||" | sort -t "$(printf '\t')" -k 1,1 -k 2,2n -k 3,3 |
    awk -v least="$least" -v list=ci/uncovered.txt -f ci/coverage.awk | tee "$CARGO_TARGET_DIR/coverage.txt"
