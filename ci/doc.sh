#!/usr/bin/env bash
# The API documentation builds without a warning, and no link between the project's files is dead.
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
exit "$dead"
