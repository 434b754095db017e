#!/usr/bin/env bash
# Every Rust file that git knows is formatted, with comments within 100 columns. The compiler and clippy give no warning for
# code, tests and examples, nor for the features of the lock crate, and there is none of shellcheck for the scripts. Every
# hazard has its place in the source, and its row in the page of them. No modules of a crate need each other in a circle.
source "$(dirname "$0")/common.sh"
need_packages python3
# rustfmt gets the names of the files, because it does not see modules that a macro declares.
git ls-files -z '*.rs' | xargs -0 rustfmt --check --edition 2024
# rustfmt leaves comments as they are. Tables, drawings and the names of steps may be longer than its 100 columns.
export LC_ALL=C.UTF-8
long=$(git ls-files -z '*.rs' | xargs -0 grep -nP '^(?=.{101}) *//[/!]? ?(?:[-*] |\d+\. )?[\w`\[("<*]' |
    grep -vP '[│┌└├─►▼]|\S  +\S|\| | (spec|step): ' || true)
[ -z "$long" ] || { echo "comments of more than 100 columns:"; echo "$long"; exit 1; }
python3 ci/mutants/hazards.py check
python3 ci/cycles.py
cargo clippy --workspace --all-targets --locked -- -D warnings
# What the features of the lock crate add is in no build of the workspace.
for features in deadlock_detection stats deadlock_detection,profile,stats,arc_lock; do
    cargo clippy --locked -q -p ondeck --all-targets --features "$features" -- -D warnings
done
need_packages shellcheck
shellcheck -x -P ci ci/*.sh packaging/*.sh .ci/run
shellcheck -x -P SCRIPTDIR examples/real-programs/*.sh
