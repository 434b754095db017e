#!/usr/bin/env bash
# Writes docs/data/speed.md, what the mutex and its condition variable cost beside other locks, from docs/results/speed/, and
# what README.md has of it: a table, the answer of `ondeck bench`, and docs/figures/ratios.svg.
#
#   ci/speed.sh            writes the files
#   ci/speed.sh --record   measures first, about 15 minutes, into docs/results/speed/MACHINE.json, which is named
#                          after the CPU. An earlier record of the same machine is replaced when all is measured. The pages name
#                          the commit, and say so when the waiting policy is another one later (ci/book/policy.py):
#                          commit first
#
# With --record:
#
#   --minutes NUMBER   how long recording may take, about; with less than 8, rounds are as short as they may be
#   --binary PATH      records with this program, built with --features peers-cpp
#
# Record on a quiet machine: what other programs had of the CPU time is on the page. Realtime rows need root or
# CAP_SYS_NICE, and rows under a quota a group that may limit CPU time, as root has; without them they are left out.
source "$(dirname "$0")/common.sh"
need_packages python3
minutes=12 ondeck='' record=''
while [ $# -gt 0 ]; do
    case $1 in
        --record) record=yes ;;
        --minutes | --binary)
            [ $# -ge 2 ] || { echo "$1 needs a value" >&2; exit 2; }
            case $1 in
                --minutes) minutes=$2 ;;
                --binary) ondeck=$(realpath "$2") ;;
            esac
            shift ;;
        *) echo "unknown option $1; the head of $0 has all" >&2; exit 2 ;;
    esac
    shift
done
[ -n "$record" ] || exec python3 ci/book/speed.py
[[ $minutes =~ ^[1-9][0-9]*$ ]] || { echo "--minutes needs a whole number above 0" >&2; exit 2; }

if [ -z "$ondeck" ]; then
    [ -z "$(git status --porcelain)" ] || { echo "commit first: a record names the commit of its locks" >&2; exit 2; }
    need_packages g++ pkg-config libabsl-dev libnsync-dev
    step "building"
    cargo build --release --locked -p ondeck-cli --features peers-cpp
    ondeck=$(realpath "${CARGO_TARGET_DIR:-target}/release/ondeck")
fi
# The end of the terminal is not the end of the recording.
trap '' HUP
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
mkdir "$scratch/reports"

locks=ondeck,spinlock,glibc,std,parking_lot,usync,abseil,nsync
threads=1,2,4,8,16,32,64

# Of the time, 400 s are for what does not depend on the length of a round: runs that end by count, threads that are
# made, sections of the last rounds, programs with data, and rounds of some periods of a quota. The rest is for 504
# places (a lock in a situation) with 9 rounds and 480 with 5, each with a quarter of a round to warm up.
length=$(((60 * minutes - 400) * 1000 / (504 * 37 / 4 + 480 * 21 / 4)))
[ "$length" -ge 10 ] || length=10
main=(--rounds 9 --duration "${length}ms")
varied=(--rounds 5 --duration "${length}ms")
[ "$minutes" -ge 8 ] || main=("${varied[@]}")

# record NAME OPTIONS: makes a report. Status 1 of the program says that something could not be measured; the report
# says what. `on` is the command that the program runs under.
on=()
record() {
    step "$1"
    local status=0
    (cd "$scratch" && "${on[@]}" "$ondeck" bench --locks $locks --json "reports/$1.json" "${@:2}" >log 2>&1) || status=$?
    [ "$status" -le 1 ] || { cat "$scratch/log"; exit 1; }
}

step "the answer"
(cd "$scratch" && "$ondeck" bench >reports/answer.txt) || [ $? -eq 1 ]
record uncontended --workloads uncontended --rounds 11 --duration 10ms
record collision --workloads collision --threads 1,2,101,1001,4001 --rounds 3
# 0 and 0, 100 and 500, 1,000 and 5,000 ns.
record throughput --workloads throughput --threads $threads "${main[@]}"
record throughput-30-150 --workloads throughput --work 30,150 --threads $threads "${main[@]}"
record throughput-100-0 --workloads throughput --work 100,0 --threads $threads "${main[@]}"
# What is done with a lock in programs: the data moves with it.
programs=(--workloads real --threads "2,4,8,16" --rounds 5 --duration 50ms)
record real "${programs[@]}"
record real-busy "${programs[@]}" --background 2
for work in 0,0 100,500; do
    record "throughput-data-${work/,/-}" --workloads throughput --work "$work" --data 16 --threads 2,4,16 "${varied[@]}"
done
record long_hold --workloads long_hold --threads 2,4,8 --rounds 5 --duration 100ms
# Rounds are as long as shares need.
record shares --workloads throughput --threads 8,16 --rounds 3 --duration 270ms
# One of the threads is the server.
record condvar --workloads condvar --threads 2,3,5,9,17 --notify inside,after "${main[@]}"
record producer_consumer --workloads producer_consumer --threads 2,4,16 --capacity 1,8,128 --notify inside,after \
    "${main[@]}"
record recovery --workloads recovery --notify inside,after --rounds 3 --duration 100ms
record bystander --workloads bystander --rounds 5
record starve --workloads starve --rounds 5
record runs --workloads wait,idle --threads 16 --rounds 30
record priority --workloads mixed_priority --rounds 5

# The same locks under other conditions: threads pinned, other time slices, another policy, a busy program beside
# them, one CPU.
few=(--workloads "throughput,condvar,producer_consumer" --threads "4,16" --capacity 8 --notify inside "${varied[@]}")
record varied-pinned "${few[@]}" --pin each
record varied-slice-0.1 "${few[@]}" --slice 0.1ms
record varied-slice-3 "${few[@]}" --slice 3ms
record varied-batch "${few[@]}" --policy batch
record varied-background "${few[@]}" --background 1
# Rounds under a quota take three of its periods.
limited=(--quota 1.0 --threads 8 --rounds 3 --duration 300ms)
record varied-quota-1.0 --workloads "throughput,condvar" --work 100,500 --notify inside "${limited[@]}"
record real-quota-1.0 --workloads real "${limited[@]}"
# Without the quota it was measured all the same.
for report in varied-quota-1.0 real-quota-1.0; do
    grep -Eq '"quota": ?"1.0"' "$scratch/reports/$report.json" || rm "$scratch/reports/$report.json"
done
on=(taskset -c 0)
record varied-one-cpu "${few[@]}"
record real-one-cpu --workloads real --threads 8 --rounds 5 --duration 50ms

step "the page"
python3 ci/book/speed.py --add "$scratch/reports"
