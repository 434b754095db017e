#!/usr/bin/env bash
# RocksDB: db_bench of Debian's rocksdb-tools, whose threads write, read, flush and compact.
# shellcheck source=lib.sh disable=SC2034
source "$(dirname "$0")/lib.sh"
program=rocksdb title='RocksDB db_bench, 8 threads' unit='fillrandom operations a second' package=rocksdb-tools
packages=(rocksdb-tools)

bench() {
    "${prefix[@]}" db_bench --db="$scratch/db" --seed=1 --compression_type=none --verify_checksum=true "$@" \
        >"$scratch/log" 2>&1 || fail "db_bench: $(tail -n 20 "$scratch/log")"
    ! grep -qi 'corruption\|error:\|get error\|put error' "$scratch/log" ||
        fail "db_bench: $(tail -n 20 "$scratch/log")"
}

check() {
    local keys=200000
    [ -z "$quick" ] || keys=30000
    # Small buffers, so that flushes and compactions run all the time.
    local small=(--write_buffer_size=262144 --target_file_size_base=262144 --max_bytes_for_level_base=1048576
        --max_background_jobs=4 --num="$keys")
    rm -rf "$scratch/db"
    bench --benchmarks=fillseq,compact --threads=1 "${small[@]}"
    bench --benchmarks=readwhilewriting,overwrite --use_existing_db=true --duration="$seconds" --threads=8 "${small[@]}"
    ok "8 threads read while one writes, and 8 overwrite, amid flushes and compactions"
    bench --benchmarks=verifychecksum,readrandom,seekrandom --use_existing_db=true --threads=4 "${small[@]}" \
        --reads=5000
    grep -q '(5000 of 5000 found)' "$scratch/log" || fail "keys are missing: $(grep found "$scratch/log")"
    ok "all checksums are right, and each key that is read is found"
    [ "$(ldb --db="$scratch/db" checkconsistency)" = OK ] || fail "ldb checkconsistency"
    [ "$(ldb --db="$scratch/db" scan 2>/dev/null | wc -l)" -ge $keys ] || fail "ldb scan finds fewer than $keys keys"
    ok "ldb finds the files consistent, and all keys"
    rm -rf "$scratch/db"
    bench --benchmarks=mergerandom,readrandommergerandom --merge_operator=uint64add --value_size=8 --threads=8 \
        "${small[@]}" --duration="$seconds" --merge_keys=100
    ok "8 threads that merge into 100 keys"
}

measure() {
    rm -rf "$scratch/db"
    bench --benchmarks=fillrandom --duration="$seconds" --threads=8 --num=100000 --max_background_jobs=2
    rate "$(awk '$1 == "fillrandom" { print $5 }' "$scratch/log")"
}

main "$@"
