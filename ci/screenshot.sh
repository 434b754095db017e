#!/usr/bin/env bash
# Writes docs/figures/report.png: the HTML report of a record of docs/results/ as Chromium shows it.
#
#   ci/screenshot.sh                    of the record that README.md shows
#   ci/screenshot.sh --binary PATH      with this program instead of one that is built first
#
# The picture has to stay below 200 kB. Other versions of Chromium and of its fonts make another one, so no check
# compares it.
source "$(dirname "$0")/common.sh"
need_packages python3 chromium fonts-liberation
ondeck=''
case ${1:-} in
    '') ;;
    --binary) ondeck=$(realpath "${2:?--binary needs a value}") ;;
    *) echo "unknown option $1; the head of $0 has all" >&2; exit 2 ;;
esac
if [ -z "$ondeck" ]; then
    step "building"
    cargo build --locked -p ondeck-cli
    ondeck=$(realpath "${CARGO_TARGET_DIR:-target}/debug/ondeck")
fi
record=docs/results/$(python3 ci/book/speed.py --latest)/throughput.json
picture=docs/figures/report.png
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

step "the page"
"$ondeck" merge "$record" --html "$scratch/report.html"
# What is seen: the head of the page and the first figure of its workload.
python3 - "$scratch/report.html" <<'PYTHON'
import pathlib
import sys

page = pathlib.Path(sys.argv[1])
shown = "main > :not(section), #overview, #tools, .lead, h3, .save { display: none !important }"
shown += "main { padding-top: 0 } section { border: 0; padding-top: 0; margin-top: 0 }"
shown += "figure { content-visibility: visible !important }"
page.write_text(page.read_text().replace("</head>", f"<style>{shown}</style></head>", 1))
PYTHON

step "the picture"
"${ONDECK_CHROMIUM:-chromium}" --headless --no-sandbox --disable-gpu --no-first-run --hide-scrollbars \
    --disable-background-networking --disable-component-update --disable-sync \
    --user-data-dir="$scratch/profile" --blink-settings=preferredColorScheme=1 \
    --window-size=1160,888 --screenshot="$scratch/report.png" "file://$scratch/report.html" 2>"$scratch/log" ||
    { cat "$scratch/log" >&2; exit 1; }
size=$(stat -c %s "$scratch/report.png")
echo "$picture: $size bytes"
[ "$size" -lt 200000 ] || { echo "the picture has 200 kB or more" >&2; exit 1; }
mv "$scratch/report.png" "$picture"
