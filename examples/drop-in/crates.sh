#!/usr/bin/env bash
# Published crates' own tests, unmodified, with the locks of crate ondeck in parking_lot's place.
#
#   crates.sh [NAME]...    all without an argument
#
# A test that fails with parking_lot's own locks, too, is left out, with the reason beside it.
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

# run NAME VERSION CARGO-TEST-ARGUMENT...
run() {
    local name=$1 version=$2
    fetch "$name" "$version"
    patch_in "$name"
    cd "$scratch/$name"
    cargo test -q "${@:3}"
    echo "$name $version: passed"
}

dashmap() { run dashmap 6.1.0 --features serde,rayon; }
string_cache() { run string_cache 0.8.9; }
r2d2() { run r2d2 0.8.10; }
prometheus() { run prometheus 0.14.0 --lib; }
# Without the documentation's examples and its benchmarks.
tracing-subscriber() { run tracing-subscriber 0.3.23 --features parking_lot,env-filter --lib --tests; }
# What waits: locks, channels, semaphores, and the runtime, whose parking they are.
tokio() { run tokio 1.53.1 --features full,test-util --lib --test 'sync_*' --test 'rt_*'; }

all=(dashmap string_cache r2d2 prometheus tracing-subscriber tokio)
[ $# -gt 0 ] || set -- "${all[@]}"
for name in "$@"; do
    case " ${all[*]} " in
        *" $name "*) ;;
        *) echo "unknown crate $name: one of ${all[*]}" >&2; exit 2 ;;
    esac
done
for name in "$@"; do
    # A shell of its own: each changes the folder.
    ("$name")
done
