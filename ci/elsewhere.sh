#!/usr/bin/env bash
# The laboratory, the command and the library for C where they are not on 64-bit Linux: `ci/elsewhere.sh [--check]`.
#
#   --check  the compiler and clippy only
#
# All of them compile for Windows and macOS, the library for C also for FreeBSD, musl and 32 bits. Under Wine the
# command lists, measures, simulates, advises, writes its reports, and refuses what needs Linux; the library for C
# does what a program in C asks of it. Ends with 77 if Wine or MinGW cannot be installed.
source "$(dirname "$0")/common.sh"

windows=x86_64-pc-windows-gnu
: "${CARGO_TARGET_DIR:=$PWD/target}"
export CARGO_TARGET_DIR

for target in $windows aarch64-apple-darwin x86_64-apple-darwin; do
    step "$target, compiled"
    need_target "$target"
    cargo clippy --locked -q --target "$target" -p ondeck-lab -p ondeck-report -p ondeck-advise \
        -p ondeck-sim -p ondeck-cli -p ondeck-capi -- -D warnings
done
for target in x86_64-unknown-freebsd x86_64-unknown-linux-musl i686-unknown-linux-gnu; do
    step "$target, the library for C compiled"
    need_target "$target"
    cargo clippy --locked -q --target "$target" -p ondeck-capi -- -D warnings
done
[ "${1-}" != --check ] || exit 0

step "Windows, run under Wine"
need_packages wine wine64 gcc-mingw-w64-x86-64
for tool in wine x86_64-w64-mingw32-gcc; do
    command -v "$tool" >/dev/null || skip "no $tool"
done
export CARGO_TARGET_X86_64_PC_WINDOWS_GNU_LINKER=x86_64-w64-mingw32-gcc
cargo build --locked -q --target $windows -p ondeck-cli -p ondeck-capi
built=$CARGO_TARGET_DIR/$windows/debug
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
x86_64-w64-mingw32-gcc -shared -o "$built/bcryptprimitives.dll" ci/systems/bcryptprimitives.c -ladvapi32
x86_64-w64-mingw32-gcc -Wall -Wextra -Werror -Ilocks/ondeck-capi/include -o "$built/locks.exe" ci/elsewhere/locks.c \
    "$built/libondeck_capi.a" -lkernel32 -lntdll -luserenv -lws2_32 -ldbghelp
export WINEDEBUG=-all WINEPREFIX=$folder/wine

# Runs a Windows program in the folder, with a time limit: its output is in `out`, its errors are in `err`.
windows() {
    local program=$1 status=0
    shift
    (cd "$folder" && timeout -s KILL 600 wine "$program" "$@" >out 2>err) || status=$?
    return "$status"
}

# Checks that the program ends with this status and has written these words.
expect() {
    local status=$1 words=$2 ended=0
    shift 2
    echo "+ ${*##*/}"
    windows "$@" || ended=$?
    if [ "$ended" -ne "$status" ] || ! cat "$folder/out" "$folder/err" | grep -qF -- "$words"; then
        cat "$folder/out" "$folder/err"
        echo "${*##*/} ended with $ended; expected were $status and \"$words\""
        exit 1
    fi
}

ondeck=$built/ondeck.exe
expect 0 "80000 pairs with ondeck" "$built/locks.exe"
expect 0 "throughput " "$ondeck" list
for workload in collision mixed_priority; do
    ! grep -q "^  $workload " "$folder/out" || { echo "$workload is listed, and Windows lacks what it needs"; exit 1; }
    expect 2 "workload $workload is not measured here" "$ondeck" bench --quick --workloads "$workload"
done
expect 2 'on Linux with glibc only' "$ondeck" bench --quick --locks glibc
for command in run attach who trace; do
    expect 2 "\`ondeck $command\` needs Linux" "$ondeck" "$command"
done
expect 2 '--machine-file` needs Linux' "$ondeck" costs --machine-file m.toml
expect 0 "uncontended: " "$ondeck" bench --quick --locks std,ondeck --workloads uncontended,throughput,idle --rounds 1 \
    --duration 2ms --json r.json --html r.html --csv r.csv
for file in r.json r.html r.csv; do
    [ -s "$folder/$file" ] || { echo "$file was not written"; exit 1; }
    # Windows counts no switches of a thread: they are absent, and not 0.
    ! grep -q 'voluntary_switches' "$folder/$file" || { echo "$file has switches, which nothing counted"; exit 1; }
done
! grep -q '"load_average"' "$folder/r.json" || { echo "the report has a load average, which Windows does not have"; exit 1; }
expect 1 "policy fifo refused: Windows has no" "$ondeck" bench --quick --locks std --workloads throughput --threads 2 \
    --rounds 1 --duration 2ms --policy fifo
expect 0 "r.json" "$ondeck" compare r.json r.json
# A second on a busy machine may not be enough to name a lock: the status may be 0 or 1.
windows "$ondeck" advise --threads 4 --time 1s || [ $? -eq 1 ]
grep -q '^advice: ' "$folder/out" || { cat "$folder/out" "$folder/err"; echo "there is no advice"; exit 1; }
expect 0 "computed, not measured" "$ondeck" sim --quick --locks ondeck,mcs --threads 4 --json s.json --html s.html
[ -s "$folder/s.html" ] || { echo "the page of the simulation was not written"; exit 1; }
echo "elsewhere: passed"
