#!/usr/bin/env bash
# The API documentation builds without a warning. No link between the project's files is dead, and no page is
# missing from docs/SUMMARY.md. No comment and no page has a word that ci/words.txt retires. The figures of
# docs/data/speed.md, docs/data/real-programs.md and README.md are those of their data. The steps of ARCHITECTURE.md are
# functions that are there. Pages have the constants of the mutex's policy as the source has them.
source "$(dirname "$0")/common.sh"
need_packages python3
RUSTDOCFLAGS="-D warnings" cargo doc --workspace --lib --no-deps --locked
# As docs.rs builds it: with the features that the package asks for.
features=$(cargo metadata --no-deps --format-version 1 --locked | python3 -c '
import json, sys
package = next(one for one in json.load(sys.stdin)["packages"] if one["name"] == "ondeck")
print(",".join(package["metadata"]["docs"]["rs"]["features"]))')
RUSTDOCFLAGS="-D warnings" cargo doc -p ondeck --lib --no-deps --locked --features "$features"
wrong=0
python3 ci/book/links.py || wrong=1
python3 ci/book/constants.py || wrong=1
python3 ci/book/words.py || wrong=1
python3 ci/book/speed.py --check || wrong=1
python3 examples/real-programs/page.py --check || wrong=1
python3 -m unittest discover -q -s ci/book -p '*_test.py' || wrong=1
python3 -m unittest discover -q -s examples/real-programs -p '*_test.py' || wrong=1
exit "$wrong"
