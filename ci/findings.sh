#!/usr/bin/env bash
# Records what docs/data/findings.md compares with the sources, and writes the page's tables.
#
#   ci/findings.sh                   some 6 minutes on 2 CPUs
#   ci/findings.sh --quick FOLDER    records for a minute into another folder, and prints the page: a test of the
#                                    script
#
# Run it on a quiet machine. If other programs had too much of the CPU time, a report is recorded again, up to
# three times; what they had is on the page. Realtime rows need root or CAP_SYS_NICE.
source "$(dirname "$0")/common.sh"
need_packages python3
folder=docs/results/findings
quick=()
if [ "${1:-}" = --quick ]; then
    quick=(--quick)
    folder=${2:?--quick needs a folder for the reports}
fi
step "building"
cargo build --release --locked -p ondeck-cli
ondeck=$(realpath "${CARGO_TARGET_DIR:-target}/release/ondeck")
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
mkdir "$scratch/compact"

# record NAME OPTIONS: makes a report. Of up to three tries it keeps the one in which other programs had the least
# CPU time. Status 1 of the program says that something could not be measured; the report says what.
record() {
    local status try
    for try in 1 2 3; do
        step "$1, try $try"
        status=0
        (cd "$scratch" && "$ondeck" bench "${quick[@]}" --json "$1.json" "${@:2}" >log 2>&1) || status=$?
        [ "$status" -le 1 ] || { cat "$scratch/log"; exit 1; }
        status=0
        python3 ci/book/keep.py "$scratch/$1.json" "$scratch/compact/$1.json" || status=$?
        [ "$status" -eq 0 ] || [ "$status" -eq 3 ] || exit "$status"
        if [ "$status" -eq 0 ] || [ ${#quick[@]} -gt 0 ]; then break; fi
    done
}

# Prints its arguments, or nothing with --quick: then the extent's own lengths apply.
length() {
    [ ${#quick[@]} -gt 0 ] || printf '%s\n' "$@"
}
mapfile -t few < <(length --rounds 100)
mapfile -t long < <(length --duration 3s)
mapfile -t medium < <(length --duration 1s)
mapfile -t rounds < <(length --duration 300ms --rounds 3)
mapfile -t more < <(length --rounds 5)

# Skarupke's mutex is glibc's.
five=glibc,terrible_spinlock,spinlock_amd,spinlock,ticket_spinlock
runs=$five,std,three_state_futex,parking_lot,ondeck
sources=$runs,mcs,glibc_pi,go_three_state,go_spinbit,lockless_three_state,lockless_four_state,usync
beside=std,terrible_spinlock,spinlock_amd,spinlock,ticket_spinlock,glibc,glibc_pi,three_state_futex,go_spinbit,parking_lot,ondeck

# Skarupke's runs, with a thread for each CPU, as he had them, and with his number of threads.
record runs-alone --workloads wait,idle --threads "$(nproc)" --locks $runs "${few[@]}"
record runs-16 --workloads wait,idle --threads 16 --locks $runs "${long[@]}"
record runs-rr --workloads wait,idle --threads 16 --locks $five --policy rr --stall-limit 3s "${medium[@]}"
record runs-conditions --workloads idle --threads 16 --locks glibc,spinlock_amd,spinlock \
    --pin none,each --slice default,0.1ms "${medium[@]}"
record throughput --workloads throughput --work 0,0 --threads 1,2,4,8,16,32 --locks $sources "${more[@]}"
record locks --workloads uncontended,handoff --locks $sources
record fairness --workloads capture,starve --threads 8 --locks $beside "${rounds[@]}"
record chan --workloads chan --threads 1,2,3,4,6,8,12,16,20 --locks go_three_state,go_spinbit,three_state_futex,std,parking_lot,ondeck \
    "${more[@]}"
# The source's test has 8 workers and a server.
record condvar --workloads condvar --threads 9 --notify inside --locks glibc,lockless_three_state,lockless_four_state,std,parking_lot,usync,ondeck "${rounds[@]}"
record company --workloads bystander,background --locks $beside "${rounds[@]}"
record priority --workloads mixed_priority --locks $beside "${rounds[@]}"
record costs --workloads costs
step "tables"
# All reports move at once, so that the page is never of two records.
mkdir -p "$folder"
mv "$scratch"/compact/*.json "$folder"
python3 ci/book/findings.py --data "$folder"
