#!/usr/bin/env bash
# speedscope, in Chromium, opens what `ondeck trace --perfetto` writes, finds every track with slices, and has
# nothing to repair. Perfetto's own viewer is a web site, which the gate does not use.
source "$(dirname "$0")/common.sh"
need_packages chromium python3
command -v npm >/dev/null || skip "npm is not here, which speedscope is distributed by"
version=1.25.0
sum=2831f1e0d26df914b477e522d78b8485511495a6af81a0b88158f8b48f9e0d03
viewer=${CARGO_TARGET_DIR:-$PWD/target}/speedscope-$version
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
if ! [ -d "$viewer" ]; then
    (cd "$work" && npm pack --silent "speedscope@$version" >/dev/null) ||
        skip "speedscope $version cannot be had from npm's registry"
    echo "$sum  $work/speedscope-$version.tgz" | sha256sum --check --quiet
    tar -xzf "$work/speedscope-$version.tgz" -C "$work"
    mkdir -p "$(dirname "$viewer")"
    mv "$work/package" "$viewer"
fi

# With all crates' features, as the tests have it: then it is there.
cargo build --locked -q --workspace --bin ondeck
"${CARGO_TARGET_DIR:-$PWD/target}/debug/ondeck" trace --locks std,ticket_spinlock --runs 2 --pairs 500 \
    --perfetto "$work/trace.json" >"$work/log" 2>&1 || [ $? -eq 1 ] || { cat "$work/log"; exit 1; }
tracks=$(python3 - "$work/trace.json" <<'PYTHON'
import json
import sys

events = json.load(open(sys.argv[1], encoding="utf-8"))["traceEvents"]
print(len({(event["pid"], event["tid"]) for event in events if event["ph"] == "X"}))
PYTHON
)
# speedscope opens a file without a server by such a script.
{
    printf 'speedscope.loadFileFromBase64("trace.json", "'
    base64 --wrap=0 "$work/trace.json"
    printf '")'
} >"$work/trace.js"
timeout 120 chromium --headless --no-sandbox --user-data-dir="$work/profile" --use-angle=swiftshader \
    --enable-unsafe-swiftshader --enable-logging=stderr --virtual-time-budget=20000 --dump-dom \
    "file://$viewer/dist/release/index.html#localProfilePath=$work/trace.js" >"$work/page.html" 2>"$work/console"
if grep -E 'CONSOLE.*(Tried to end|still open|rror)' "$work/console"; then
    echo "the viewer had something to repair"
    exit 1
fi
shown=$(grep -oE '\([0-9]+/[0-9]+\)' "$work/page.html" | head -n 1) || true
[ "$shown" = "(1/$tracks)" ] || { echo "of $tracks tracks the viewer shows: ${shown:-none}"; cat "$work/console"; exit 1; }
echo "speedscope $version opens it: $tracks tracks"
