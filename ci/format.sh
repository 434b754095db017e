#!/usr/bin/env bash
# Every Rust file is formatted. By name, because rustfmt does not see modules that a macro declares.
source "$(dirname "$0")/common.sh"
git ls-files -z '*.rs' | xargs -0 rustfmt --check --edition 2024
