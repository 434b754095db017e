#!/usr/bin/env bash
# Every Rust file that git knows is formatted. rustfmt gets their names, because it does not see modules that a
# macro declares.
source "$(dirname "$0")/common.sh"
git ls-files -z '*.rs' | xargs -0 rustfmt --check --edition 2024
