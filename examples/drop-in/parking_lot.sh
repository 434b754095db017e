#!/usr/bin/env bash
# parking_lot's own tests, those of 0.12 and of 0.13, against the locks of crate ondeck.
#
# The tests are modules inside the crate's sources. They are cut out (parking_lot.py) and compiled in a crate whose
# root exports what ours does. Three lines of them use what is private to parking_lot: parking_lot.py says which.
#
#   parking_lot.sh [0.12|0.13]...    both without an argument
#
# One test is expected to fail, and is left out: `two_mutexes` wants a panic if waiters of a condition variable use
# several mutexes at the same time. Those of crate ondeck may.
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
[ $# -gt 0 ] || set -- 0.12 0.13

for series in "$@"; do
    case $series in
        0.12) version=0.12.5 ;;
        0.13) version=0.13.0 ;;
        *) echo "unknown series $series: 0.12 or 0.13" >&2; exit 2 ;;
    esac
    fetch parking_lot "$version"
    rm -rf "$scratch/own-$series" "$scratch/parking_lot-$series"
    mv "$scratch/parking_lot" "$scratch/parking_lot-$series"
    python3 "$here/parking_lot.py" "$scratch/parking_lot-$series" "$scratch/own-$series" \
        "$root/drop-in/parking_lot-$series"
    cd "$scratch/own-$series"
    # The detection looks at all threads, also at those that other tests have deadlocked.
    for features in arc_lock,serde,owning_ref send_guard,arc_lock deadlock_detection; do
        echo "parking_lot $version, its own tests, with the features $features"
        only=()
        [ "$features" != deadlock_detection ] || only=(tests_of_deadlock::)
        cargo test -q --features "$features" --lib -- --skip condvar::tests::two_mutexes_at_once "${only[@]}"
    done
    echo "parking_lot $version, its tests of the interface"
    cargo test -q --test '*'
done
