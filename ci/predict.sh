#!/usr/bin/env bash
# Predicts what the machines of docs/predictions/ will measure, by today's engine, into new files: an existing
# prediction is never changed. Each number is the median of three seeds.
#
#   ci/predict.sh                      both predictions
#   ci/predict.sh sync-bench           one of them: sync-bench or folly
#   ci/predict.sh --check FILE         predicts again, and ends with 1 if the rows of the file are others
#
# A prediction is made of what is committed only: otherwise it could not be made again.
source "$(dirname "$0")/common.sh"
seeds=3
parts=(crates/ondeck-sim/src crates/ondeck-sim/machines crates/ondeck-sim/examples/validate crates/ondeck-zoo/src)

# predict NAME: its rows.
predict() {
    cargo run --quiet --release --locked -p ondeck-sim --example validate -- --predict "$1" --seeds "$seeds"
}

if [ "${1:-}" = --check ]; then
    name=$(sed -n 's/^# Command: ci\/predict.sh //p' "$2")
    diff <(grep -v '^#' "$2") <(predict "$name")
    exit
fi

changes=$(git status --porcelain -- "${parts[@]}")
if [ -n "$changes" ]; then
    printf 'not committed, so that no prediction is made:\n%s\n' "$changes" >&2
    exit 1
fi

# hashes FILE: the machine file and its bases, each with its hash.
hashes() {
    local file=crates/ondeck-sim/machines/$1.toml base
    printf '# Machine file: %s, SHA-256 %s\n' "$file" "$(sha256sum "$file" | cut -d' ' -f1)"
    base=$(sed -n 's/^base = "\(.*\)"$/\1/p' "$file")
    [ -z "$base" ] || hashes "$base"
}

# record NAME FILE MACHINE WHAT ASSUMED: writes a prediction.
record() {
    local file date
    date=$(date -u +%F)
    file=docs/predictions/$2-$date.csv
    if [ -e "$file" ]; then
        echo "$file is there, and a prediction is never changed" >&2
        exit 1
    fi
    step "$file"
    {
        printf '# Simulated, not measured: %s.\n# Made %s.\n# Command: ci/predict.sh %s\n' "$4" "$date" "$1"
        hashes "$3"
        for part in "${parts[@]}"; do
            printf '# Git tree: %s of %s\n' "$(git rev-parse "HEAD:$part")" "$part"
        done
        printf '# Seeds: 1 to %s; each number is the median.\n# Assumed: %s.\n' "$seeds" "$5"
        predict "$1"
    } >"$file.new"
    mv "$file.new" "$file"
}

names=("$@")
[ $# -gt 0 ] || names=(sync-bench folly)
for name in "${names[@]}"; do
    case $name in
        sync-bench)
            record sync-bench xeon-8488c-sync-bench xeon-8488cx2 \
                'two Intel Xeon Platinum 8488C, 2 x 48 cores, SMT 2, 192 CPUs, the workload of synchronization-benchmarks, ContentionScaling (work=1, pause=0)' \
                'an update of 8.5 ns, so that one task takes 30 ns; the head of the published table says 18 to 32 for several machines, this one among them'
            ;;
        folly)
            record folly xeon-d-2191-folly xeon-d-2191 \
                "Intel Xeon D-2191, 18 cores, SMT 2, 36 CPUs, folly's SmallLocksBenchmark, contended and contended_simple" \
                '1.225 ns a step with both hyper-threads of a core busy, which the head of the published table says; that table has no row of this machine'
            ;;
        *) echo "predict.sh: $name is no prediction: sync-bench or folly" >&2; exit 2 ;;
    esac
done
