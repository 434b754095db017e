#!/usr/bin/env bash
# The commands of docs/campaigns.md for GNU parallel, as they are on the page, carry out a small campaign: a shard
# that is killed at its first try is run again, and no other; a merge without it is refused as complete; the merged
# report then has all that one run without shards has. So do the commands for several machines, where directories
# and a stand-in for ssh take the place of the machines.
source "$(dirname "$0")/common.sh"
need_packages parallel rsync python3

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
little="bench --workloads throughput --locks std,spinlock --threads 1,2,3,4 --rounds 2 --duration 1ms"

# expect WHAT EXPECTED ACTUAL: ends the script if they differ.
expect() {
    [ "$2" = "$3" ] || { printf '%s: expected\n%s\nbut there is\n%s\n' "$1" "$2" "$3" >&2; exit 1; }
}

# With all crates' features, as the tests have it: then it is there.
cargo build --locked -q --workspace --bin ondeck
ondeck=$(realpath "${CARGO_TARGET_DIR:-target}")/debug/ondeck
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/bin" "$work/one" "$work/several"
stand_in "$work/bin" "$ondeck"

step "the page's variables, and one run without shards"
eval "$(block Shard 1)"
every=$(seq "${shards:?the page does not say how many shards there are}")
: "${measure:?the page does not say what measures}"
# Little enough for a test.
export measure="ondeck $little"
# shellcheck disable=SC2086 # several words
"$ondeck" $little --json "$work/whole.json" >"$work/log" 2>&1 || { cat "$work/log"; exit 1; }

# page FOLDER HEADING NUMBER: carries out a block of the page in a folder. Its status is that of the block.
page() {
    block "$2" "$3" >"$work/block.sh"
    (cd "$work/$1" && PATH=$work/bin:$PATH bash "$work/block.sh") >"$work/log" 2>&1
}
# tried: the shards that have been tried since the last call, in order, and nothing else.
tried() {
    sed 's/^shard //' "$work/bin/calls" | sort -n
    rm "$work/bin/calls"
}
# fails_once FOLDER HEADING NUMBER: the campaign of that block, with a shard that is killed at its first try.
fails_once() {
    # shellcheck disable=SC2016 # for the stand-in
    echo 'kill -KILL $$' >"$work/bin/3.fails"
    local status=0
    page "$@" || status=$?
    [ -e "$work/bin/3.failed" ] || { cat "$work/log"; exit 1; }
    expect "the exit code with one shard that failed" 1 "$status"
    expect "the shards that were tried" "$every" "$(tried)"
    expect "the shards that have a report" "$(grep -vx 3 <<<"$every")" "$(reports "$1")"

    status=0
    page "$1" "GNU parallel" 2 || status=$?
    expect "the exit code of a merge without a shard" 1 "$status"
    said=$(block Merge 2)
    grep -qF "$said" "$work/log" || { cat "$work/log"; echo "the page's warning is missing"; exit 1; }

    ! python3 ci/campaign.py "$work/$1/all.json" "$work/whole.json" >"$work/log" ||
        { echo "a report without a shard is taken for a complete one"; exit 1; }

    page "$@" || { cat "$work/log"; exit 1; }
    expect "the shards that were tried again" 3 "$(tried)"
    expect "the shards that have a report" "$every" "$(reports "$1")"
    page "$1" "GNU parallel" 2 || { cat "$work/log"; exit 1; }
    python3 ci/campaign.py "$work/$1/all.json" "$work/whole.json"
}
# reports FOLDER: the shards with a report there.
reports() {
    find "$work/$1/shards" -name '*.json' -printf '%f\n' | sed 's/\.json$//' | sort -n
}

step "one machine"
fails_once one "GNU parallel" 1
page one Merge 1 || { cat "$work/log"; exit 1; }
[ -s "$work/one/all.html" ] || { echo "no all.html was written"; exit 1; }

step "several machines"
# ssh: HOST in front of a command is a directory. Options are those that parallel and rsync give.
export PARALLEL_SSH=$work/bin/ssh MACHINES=$work/machines
cat >"$PARALLEL_SSH" <<'SSH'
#!/bin/bash
while [[ $1 == -* ]]; do
    case $1 in
        -l | -p | -o | -S) shift 2 ;;
        *) shift ;;
    esac
done
host=$1
shift
[ "$1" != -- ] || shift
mkdir -p "$MACHINES/$host"
cd "$MACHINES/$host" || exit
# A login sets both. What calls this script may have neither.
export HOME=$PWD SHELL=/bin/bash
exec bash -c "$*"
SSH
chmod +x "$PARALLEL_SSH"
fails_once several "GNU parallel" 3
expect "the machines" "lab1 lab2 lab3" "$(cd "$MACHINES" && echo *)"
left=$(find "$MACHINES" -name '*.json')
expect "reports that were left on the machines" "" "$left"
