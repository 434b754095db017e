# shellcheck shell=bash
# Sourced by ci/campaign.sh and ci/slurm.sh: the commands of docs/campaigns.md, and a command `ondeck` that fails
# when a test wants it.

# block HEADING NUMBER: prints that block of code under that heading of the page. There must be one.
block() {
    awk -v heading="## $1" -v wanted="$2" '
        !inside && /^## / { here = $0 == heading }
        here && /^```/ {
            inside = !inside
            if (inside) count++
            next
        }
        here && inside && count == wanted { print; found = 1 }
        END { exit !found }
    ' docs/campaigns.md || { echo "docs/campaigns.md has no block $2 under \"$1\"" >&2; return 1; }
}

# stand_in FOLDER ONDECK: makes the command FOLDER/ondeck. It is ONDECK, except for a shard that has a file
# FOLDER/SHARD.fails, as FOLDER/2.fails: at its first try the file is executed in place of the command. A line
# `shard SHARD` in FOLDER/calls tells of each try.
stand_in() {
    printf '#!/bin/bash\nhere=%q ondeck=%q\n' "$1" "$2" >"$1/ondeck"
    cat >>"$1/ondeck" <<'STAND_IN'
for word in "$@"; do
    [ "$before" != --shard ] || shard=${word%/*}
    before=$word
done
if [ -n "$shard" ]; then
    echo "shard $shard" >>"$here/calls"
    if [ -e "$here/$shard.fails" ]; then
        mv "$here/$shard.fails" "$here/$shard.failed"
        source "$here/$shard.failed"
    fi
fi
exec "$ondeck" "$@"
STAND_IN
    chmod +x "$1/ondeck"
}

# What the page's variable `measure` is to the tests: stages for more shards than there are, and some milliseconds.
# shellcheck disable=SC2034 # for the scripts that source this
little="bench --workloads throughput --locks std,spinlock --threads 1,2,3,4 --rounds 2 --duration 1ms"

# expect WHAT EXPECTED ACTUAL: ends the script if they differ.
expect() {
    [ "$2" = "$3" ] || { printf '%s: expected\n%s\nbut there is\n%s\n' "$1" "$2" "$3" >&2; exit 1; }
}
