#!/usr/bin/env bash
# The API documentation builds without a warning, no link between the project's files is dead, and the
# table of hazards has each that is put in somewhere.
source "$(dirname "$0")/common.sh"
RUSTDOCFLAGS="-D warnings" cargo doc --workspace --lib --no-deps --locked
dead=0
while IFS= read -r file; do
    while IFS= read -r link; do
        target=${link%%#*}
        # `self` is rustdoc's, in a code block that shows a lock's header.
        case "$target" in ''|self|http:*|https:*|mailto:*) continue ;; esac
        if [ ! -e "$(dirname "$file")/$target" ]; then
            echo "$file links to $target, which is not there"
            dead=1
        fi
    done < <(grep -oE '\]\([^) ]+\)' "$file" | sed 's/^](//; s/)$//')
done < <(git ls-files '*.md')
while IFS= read -r file; do
    if ! grep -qF "($file)" docs/hazards.md; then
        echo "docs/hazards.md does not have $file: run ci/hazards.sh"
        dead=1
    fi
done < <(
    git ls-files 'crates/ondeck/tests/mutants/*.patch' | sed 's/^/..\//'
    # The large ones are run on demand.
    git ls-files 'spec/*.cfg' | xargs grep -l '^..* Hazard:' | xargs grep -L '^..* Large:' | sed 's/^/..\//'
)
exit "$dead"
