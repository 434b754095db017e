#!/usr/bin/env bash
# The proofs that need not run after each change: the litmus tests of the fast paths against models of weak memory, and
# the table of docs/weak-memory.md.
source "$(dirname "$0")/common.sh"
cd proofs/litmus
cargo clippy -q --all-targets -- -D warnings
cargo test -q
