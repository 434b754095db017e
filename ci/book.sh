#!/usr/bin/env bash
# The book: docs/ as pages for a browser, in target/book, with no dead link among them. Not part of the gate:
# mdBook is some minutes to build. What can be seen without it is asked by ci/doc.sh.
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
