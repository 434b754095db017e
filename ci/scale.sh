#!/usr/bin/env bash
# Writes the tables of docs/data/scale.md, "Locks on 256 simulated cores", from the simulated reports in docs/results/scale/.
#
#   ci/scale.sh            writes the page
#   ci/scale.sh --check    writes nothing, and ends with 1 if the page is not that of its reports
#   ci/scale.sh --record   simulates first: about 20 minutes on 2 CPUs. Each machine and work is a shard of the
#                          campaign, and can be simulated alone; so can all locks on one machine, and what locks do
#                          to threads that wait and to one that does not:
#   ci/scale.sh --record future-256 100,500 16
#   ci/scale.sh --record all-locks
#   ci/scale.sh --record beside
#
# The same program simulates the same numbers on every machine.
source "$(dirname "$0")/common.sh"
need_packages python3
[ "${1:-}" = --record ] || exec python3 ci/book/scale.py "$@"
shift

if [ -z "${ONDECK:-}" ]; then
    step "building"
    cargo build --release --locked -p ondeck-cli --features museum
    ONDECK=$(realpath "${CARGO_TARGET_DIR:-target}/release/ondeck")
fi
# Locks whose threads sleep. Where more threads than CPUs spin, each poll is an event: such locks are in `all-locks`.
locks=ondeck,malthusian,go_spinbit,three_state_futex,glibc_normal,rust_std,word_lock
folder=docs/results/scale
mkdir -p "$folder"

# record MACHINE CORES WORK LINES: a report of 1 thread, 4, and 0.5 to 4 threads a core, three rounds with a seed each.
record() {
    local name="$folder/$1-${3/,/-}-$4.json" cores=$2
    step "$1, $3 ns, $4 lines of data"
    "$ONDECK" sim --machine "$1" --locks "$locks" --workloads throughput --work "$3" --data "$4" --rounds 3 \
        --duration 10ms --threads "1,4,$((cores / 2)),$cores,$((2 * cores)),$((4 * cores))" --json "$name" >/dev/null
    python3 ci/book/scale.py --keep "$name"
}
# all_locks: every lock on one machine.
all_locks() {
    step "all locks"
    "$ONDECK" sim --machine epyc-9454p-64 --locks '*' --workloads throughput --work 100,500 --rounds 1 --duration 4ms \
        --threads 1,4,64,128 --json "$folder/all-locks.json" >/dev/null
    python3 ci/book/scale.py --keep "$folder/all-locks.json"
}

# beside: how long a thread goes without the lock, and how much slower a thread is that does not want it.
beside() {
    step "starvation and a bystander"
    "$ONDECK" sim --machine epyc-9454p-64 --locks "$locks,ticket_spinlock" --workloads starve,bystander --work 100,500 --rounds 1 \
        --duration 200ms --threads 16,64,128 --json "$folder/beside.json" >/dev/null
    python3 ci/book/scale.py --keep "$folder/beside.json"
}

if [ $# -eq 0 ] || [ "$*" = all-locks ]; then all_locks; fi
if [ $# -eq 0 ] || [ "$*" = beside ]; then beside; fi
for machine in epyc-9454p-64:64 graviton3:64 xeon-gold-6148x2:80 future-256:256; do
    for work in "0,0 0" "100,500 0" "100,500 16" "1000,5000 0"; do
        [ $# -eq 0 ] || [ "$*" = "${machine%:*} $work" ] || continue
        record "${machine%:*}" "${machine#*:}" "${work% *}" "${work#* }"
    done
done
[ $# -gt 0 ] || exec python3 ci/book/scale.py
