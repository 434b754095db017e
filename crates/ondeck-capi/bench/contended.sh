#!/usr/bin/env bash
# Prints what the library does for contended C programs: the same workloads in Rust (contended.rs), through ondeck.h
# with its inlined paths, through pthread.h under the shim, and through glibc. Medians of interleaved rounds, in
# thousands a second, and as ratios to Rust with quartiles.
#
#   crates/ondeck-capi/bench/contended.sh [ROUNDS]    after both link.sh; about 1 minute for 7 rounds
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
rounds=${1:-7}
target=$(realpath "${CARGO_TARGET_DIR:-$here/../../../target}")
native=$target/native
for library in libondeck.so libondeck_preload.so; do
    [ -e "$native/lib/$library" ] || { echo "$native/lib has no $library: run link.sh of its crate first" >&2; exit 2; }
done
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
(cd "$here" && cargo build --locked --profile native -p ondeck-capi --example contended)
cc=${CC:-cc}
"$cc" -std=gnu11 -O2 -Wall -Wextra -Werror -pthread -DONDECK -I"$native/include" "$here/contended.c" \
    "$native/lib/libondeck.so" -Wl,-rpath,"$native/lib" -o "$scratch/header"
"$cc" -std=gnu11 -O2 -Wall -Wextra -Werror -pthread "$here/contended.c" -o "$scratch/pthread"

workloads=("empty 2" "empty 8" "job 2" "job 9" "job_after 2" "job_after 9")
for capacity in 1 8 128; do
    for threads in 2 8; do
        workloads+=("buffer $threads $capacity" "buffer_after $threads $capacity")
    done
done
for round in $(seq "$rounds"); do
    for workload in "${workloads[@]}"; do
        read -ra words <<<"$workload"
        for way in rust header shim glibc; do
            case $way in
                rust) rate=$("$native/examples/contended" "${words[@]}") ;;
                header) rate=$("$scratch/header" "${words[@]}") ;;
                shim) rate=$(LD_PRELOAD=$native/lib/libondeck_preload.so "$scratch/pthread" "${words[@]}") ;;
                glibc) rate=$("$scratch/pthread" "${words[@]}") ;;
            esac
            printf '%s\t%s\t%s\t%s\n' "$round" "$workload" "$way" "$rate"
        done
    done
done >"$scratch/rates"
grep -m1 '^model name' /proc/cpuinfo | cut -d: -f2-
python3 - "$scratch/rates" <<'PYTHON'
import statistics
import sys
from collections import defaultdict

rates = defaultdict(lambda: defaultdict(list))
for line in open(sys.argv[1]):
    _, workload, way, rate = line.rstrip("\n").split("\t")
    rates[workload][way].append(float(rate))
print(f"{'workload, threads, capacity':28}{'rust k/s':>10}" + "".join(f"{way:>20}" for way in ("header", "shim", "glibc")))
medians = defaultdict(list)
for workload, ways in rates.items():
    row = f"{workload:28}{statistics.median(ways['rust']):10.0f}"
    for way in ("header", "shim", "glibc"):
        ratios = [rate / rust for rate, rust in zip(ways[way], ways["rust"])]
        low, middle, high = statistics.quantiles(ratios, n=4) if len(ratios) > 1 else ratios * 3
        medians[way].append(statistics.median(ratios))
        row += f"{middle:8.2f} ({low:.2f}–{high:.2f})"
    print(row)
print(f"{'geometric mean':38}" + "".join(f"{statistics.geometric_mean(medians[way]):8.2f}{'':12}" for way in medians))
PYTHON
