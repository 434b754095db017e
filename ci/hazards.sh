#!/usr/bin/env bash
# Writes docs/data/hazards.md from the results of runs. Each row is a mistake that was put into the source or into a
# specification, and the test or the property that failed with it.
#
#   ci/hazards.sh            makes all runs first; an hour on 2 CPUs. If it is stopped, it goes on when it is started again
#   ci/hazards.sh --written  takes the results that are in target/hazards
#   ci/hazards.sh --check    makes no run: checks that the page has all hazards with their tests, and no others
#   ci/hazards.sh --listed   makes no run: gives the page these rows, and leaves what it says of its runs; for a new hazard
#                            that ci/mutants.sh NAME or ci/tlc.sh has caught
source "$(dirname "$0")/common.sh"
results=${CARGO_TARGET_DIR:-$PWD/target}/hazards
page=docs/data/hazards.md
case ${1:-} in
    --check | --listed)
        results=$(mktemp -d)
        trap 'rm -rf "$results"' EXIT
        page=$results/hazards.md
        # The rows that the runs write if every hazard is caught.
        awk '
            function row() { if (hazard != "") print hazard "\t" file "\t" expected "\tTLC\tcaught" }
            FNR == 1 { row(); hazard = expected = ""; file = FILENAME }
            sub(/^.[*] Hazard: /, "") { hazard = $0 }
            sub(/^.[*] Expect: /, "") { expected = $0 }
            END { row() }' spec/*/*.cfg >"$results/tlc.tsv"
        python3 ci/mutants/hazards.py list | awk -F '\t' '{
            tool = $2 ~ /^loom$/ ? $2 : "real threads"
            print $5 "\t" $1 "\t" (tool == $2 ? $3 : $2 "::" $3) "\t" tool "\tcaught"
        }' >"$results/mutants.tsv"
        ;;
    --written) ;;
    '')
        ci/tlc.sh
        ci/mutants.sh
        ;;
    *) echo "usage: ci/hazards.sh [--written | --check | --listed]" >&2; exit 2 ;;
esac
for part in tlc mutants; do
    [ -s "$results/$part.tsv" ] || { echo "no results in $results/$part.tsv: run ci/$part.sh, all of it"; exit 1; }
done

table() {
    # hazard, file, what failed, tool, result
    LC_ALL=C sort -t "$(printf '\t')" -k 1,1 -k 4,4 -k 2,2 "$results"/*.tsv | awk -F '\t' '
        function print_row() {
            if (hazard != "") printf "| %s | %s |\n", hazard, found
        }
        {
            name = $2
            sub(/.*\//, "", name)
            sub(/\.(cfg|toml)$/, "", name)
            what = $4 == "TLC" ? $3 : "`" $3 "`"
            sub(/^violation of deadlock$/, "deadlock", what)
            sub(/^violation of /, "", what)
            path = $4 == "TLC" ? "../../" $2 : "../../crates/ondeck/tests/mutants/" name ".toml"
            entry = sprintf("%s: [`%s`](%s), %s", $4, name, path, what)
            if ($1 == hazard) { found = found "<br>" entry } else { print_row(); hazard = $1; found = entry; rows++ }
            checks++
        }
        END { print_row(); printf "\n%d hazards, put in at %d places, all caught.\n", rows, checks }'
}

{
    cat <<'HEAD'
# Hazards

What can go wrong in a lock of this kind, put in on purpose, and what finds it. The table is written by
[`ci/hazards.sh`](../../ci/hazards.sh) from runs of [`ci/tlc.sh`](../../ci/tlc.sh) and
[`ci/mutants.sh`](../../ci/mutants.sh): a mistake has a row only if it was caught. An entry of TLC is a
configuration of a specification, with the property that it violates. The other entries are edits of the
source, with the test that fails.

| hazard | found by |
|---|---|
HEAD
    table
} >"$page.new"
mv "$page.new" "$page"
# The rows and the counts; not the lines that say which runs a copy is from.
pattern='^[|].*|^[0-9]+ hazards, put in at [0-9]+ places'
rows() { grep -Eo "$pattern" "$1"; }
case ${1:-} in
    --check)
        diff <(rows docs/data/hazards.md) <(rows "$page") || {
            echo "docs/data/hazards.md is not the table of what there is: see ci/hazards.sh"
            exit 1
        }
        ;;
    --listed)
        page=docs/data/hazards.md
        rows "$results/hazards.md" | awk -v pattern="$pattern" '
            NR == FNR { row[++count] = $0; next }
            /^[|]/ { if (!table++) for (at = 1; at < count; at++) print row[at]; next }
            $0 ~ pattern { sub(/^[0-9]+ hazards, put in at [0-9]+ places/, row[count]) }
            { print }' - "$page" >"$results/page"
        cp "$results/page" "$page"
        ;;&
    --listed | '' | --written) tail -n 1 "$page" ;;
esac
