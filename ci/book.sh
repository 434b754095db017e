#!/usr/bin/env bash
# Builds the book: docs/ as pages for a browser, in target/book, without a dead link among them.
#
# It is not part of the gate, because building mdBook takes some minutes. ci/doc.sh checks what can be checked
# without it.
source "$(dirname "$0")/common.sh"
need_packages python3
version=0.5.4
tools=$PWD/target/tools
if [ "$("$tools/bin/mdbook" --version 2>/dev/null)" != "mdbook v$version" ]; then
    step "mdBook $version"
    cargo install --locked --root "$tools" --version "$version" --no-default-features --features search mdbook
fi
step "the book"
rm -rf target/book
"$tools/bin/mdbook" build
python3 ci/book/built.py target/book
echo "open target/book/index.html"
