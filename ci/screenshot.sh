#!/usr/bin/env bash
# Writes docs/figures/report.png, the HTML report of the record that README.md shows, and docs/figures/profile.png, the
# page of a profile, as Chromium shows them.
#
#   ci/screenshot.sh                    builds the command and the shim first
#   ci/screenshot.sh --binary PATH      with this program; ONDECK_PRELOAD_LIBRARY names the shim
#
# A picture has to stay below 200 kB. Other versions of Chromium and of its fonts make another one, so no check
# compares them.
source "$(dirname "$0")/common.sh"
need_packages python3 chromium fonts-liberation gcc
ondeck=''
case ${1:-} in
    '') ;;
    --binary) ondeck=$(realpath "${2:?--binary needs a value}") ;;
    *) echo "unknown option $1; the head of $0 has all" >&2; exit 2 ;;
esac
if [ -z "$ondeck" ]; then
    step "building"
    cargo build --locked -p ondeck-cli
    crates/ondeck-preload/link.sh
    ondeck=$(realpath "${CARGO_TARGET_DIR:-target}/debug/ondeck")
fi
record=docs/results/$(python3 ci/book/speed.py --latest)/throughput.json
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

step "the page"
"$ondeck" merge "$record" --html "$scratch/report.html"
# What is seen: the head of the page and the first figure of its workload.
python3 - "$scratch/report.html" <<'PYTHON'
import pathlib
import sys

page = pathlib.Path(sys.argv[1])
shown = "main > :not(section), #answer, #overview, #tools, .lead, h3, .save { display: none !important }"
shown += "main { padding-top: 0 } section { border: 0; padding-top: 0; margin-top: 0 }"
shown += "figure { content-visibility: visible !important }"
page.write_text(page.read_text().replace("</head>", f"<style>{shown}</style></head>", 1))
PYTHON

# picture PAGE NAME: what Chromium shows of a page in the scratch folder.
picture() {
    "${ONDECK_CHROMIUM:-chromium}" --headless --no-sandbox --disable-gpu --no-first-run --hide-scrollbars \
        --disable-background-networking --disable-component-update --disable-sync \
        --user-data-dir="$scratch/profile" --blink-settings=preferredColorScheme=1 \
        --window-size=1160,888 --screenshot="$scratch/$2" "file://$scratch/$1" 2>"$scratch/log" ||
        { cat "$scratch/log" >&2; exit 1; }
    local size
    size=$(stat -c %s "$scratch/$2")
    echo "docs/figures/$2: $size bytes"
    [ "$size" -lt 200000 ] || { echo "the picture has 200 kB or more" >&2; exit 1; }
    mv "$scratch/$2" "docs/figures/$2"
}
step "the picture of the report"
picture report.html report.png

step "the picture of a profile"
gcc -O2 -g -pthread "-ffile-prefix-map=$PWD=." crates/ondeck-profile/tests/programs/hot.c -o "$scratch/hot"
"$ondeck" run --profile "$scratch/profile.html" -- "$scratch/hot" 1000 2>"$scratch/log" || { cat "$scratch/log" >&2; exit 1; }
picture profile.html profile.png
