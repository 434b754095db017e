#!/usr/bin/env bash
# Checks traces of the source against the specifications, with TLC: each run of the simulator under a random schedule is a
# behaviour of its module, and runs of a source with a hazard in it are not.
#
#   ci/traces.sh                          1,000 runs of each module, and the hazards; an hour. If it is stopped, it goes on
#                                         after the last hundred runs when it is started again
#   ci/traces.sh --quick                  40 runs of each; less than a minute
#   ci/traces.sh --runs N                 N runs of each
#   ci/traces.sh --hazards                the hazards alone
#   ci/traces.sh MODULE [...]             the same of one module: Mutex, RwLock or Condvar
#   ci/traces.sh MODULE --hazard NAME     one of crates/ondeck/tests/mutants
#   ci/traces.sh MODULE --seed N          one run; if it is rejected, how far TLC followed it, and in which state
#
# docs/data/traces.md has the last result of each source, of 1,000 runs or with a hazard.
#
# For each module ci/traces/MODULETrace.tla says which steps an event allows, and ci/traces/Following.tla how TLC follows
# events. crates/ondeck-sim/examples/traces makes them.
source "$(dirname "$0")/common.sh"
need_packages python3
need_tlc
target=${CARGO_TARGET_DIR:-$PWD/target}
work=$target/traces
# Runs of one start of TLC.
batch=100
# Runs in which a hazard has to show, and how many of them TLC follows at once.
tries=200 some=20

# The hazards of each module that a trace shows. Not those of orderings, of times, of parts that
# no run here uses, and three that 200 runs do not show (docs/verification.md).
declare -A hazards=(
    [Mutex]="
        debt_not_left debt_of_no_owner debt_to_no_thread
        offered_and_cleared offer_ignored_at_the_deadline offered_though_not_asked offered_without_a_wake
        heir_no_last_try heir_no_try_after_the_heavy_fence
        leaves_without_a_wake left_keeps_its_request left_still_woken mode_not_read_again
        replaced_heir_not_parked replaced_heir_takes_the_request_along
        request_of_another_withdrawn request_of_any_lock served_with_the_request_left
        unlock_wakes_no_thread woken_before_it_is_told woken_still_relied_on woken_takes_the_role_of_a_sleeper"
    [RwLock]="
        rwlock_bias_overlooked rwlock_counted_overlooked rwlock_drainer_not_marked_asleep
        rwlock_gave_up_forgets_the_others rwlock_gives_up_still_a_writer
        rwlock_reserved_forgets_the_others rwlock_last_reader_wakes_no_writer
        rwlock_mark_kept_by_a_parked_thread rwlock_marked_thread_keeps_the_mark rwlock_no_fence_of_the_sleeping_writer
        rwlock_no_heavy_fence rwlock_not_looked_again rwlock_parked_cleared_beside_another
        rwlock_parked_without_asking_again rwlock_sleeping_writers_not_asked rwlock_slots_overlooked
        rwlock_touched_by_a_visible_reader rwlock_touched_by_the_last_reader
        rwlock_woken_reader_wakes_no_other"
    [Condvar]="
        notify_wakes_no_thread wait_linked_after_unlock
        notify_forgets_the_others notify_touches_a_freed_condvar
        foreign_waiter_moved foreign_waiters_not_woken cancelled_stays_linked cancelled_without_the_mutex
        timed_out_without_the_mutex withdraw_forgets_the_others
        moved_beside_another_mutex cancelled_keeps_its_notification notified_reports_timeout
        notify_touches_a_freed_mutex passed_on_to_the_newest cancelled_before_its_mutex_is_its_own
        moved_waiter_waits_for_a_woken_thread
        moved_waiter_left_to_no_owner moved_waiter_left_without_a_fence"
)

# Writes the result of a source's runs into the page, in place of the one before.
page=docs/data/traces.md
record() {
    local start="| $1 | $2 |"
    {
        sed '/^|---/q' "$page"
        {
            sed '1,/^|---/d' "$page" | grep -vF "$start" || true
            echo "$start $3 | $(date +%F) |"
        } | LC_ALL=C sort
    } >"$page.new"
    mv "$page.new" "$page"
}

# Builds what makes traces, of the tree in the working directory; prints its path.
build() {
    cargo build --locked -q -p ondeck-sim --no-default-features --example traces --message-format json |
        grep '"kind":\["example"\]' | sed -n 's/.*"executable":"\([^"]*\)".*/\1/p'
}

# Checks the runs of these seeds of a module in a folder of their own; prints the seeds of the traces that are accepted.
# If one of the runs crashes or takes more than a minute, there are no traces, and the file crash says which run that is.
follow() {
    local module=$1 executable=$2 first=$3 count=$4 place=$5 constraint=${6:-IsNew} is=crashes
    rm -rf "$place"
    mkdir -p "$place"
    cp spec/*/"$module.tla" ci/traces/Following.tla ci/traces/"${module}Trace.tla" "$place"
    timeout 60 "$executable" "$module" "$first" "$count" >"$place/Traces.tla" 2>"$place/log" || {
        [ $? -ne 124 ] || is="does not end"
        sed -n 's/^run [0-9]*$/&/p' "$place/log" | tail -n 1 | sed "s/$/ $is/" >"$place/crash"
        return 0
    }
    sed "s/^CONSTRAINT .*/CONSTRAINTS $constraint/" "ci/traces/${module}Trace.cfg" >"$place/Traces.cfg"
    (
        cd "$place"
        # The method that evaluates expressions is so large that Java would only interpret it.
        java -Djava.io.tmpdir="$place" -XX:SharedArchiveFile="$archive" -XX:+UseSerialGC -XX:TieredStopAtLevel=1 -XX:-DontCompileHugeMethods -Xmx1g -cp "$jar" tlc2.TLC \
            -workers 1 -deadlock -metadir "$place" -config Traces.cfg "${module}Trace.tla" >"$place/out" 2>&1
    ) || true
    grep -q '^Model checking completed. No error has been found' "$place/out" || { tail -n 30 "$place/out" >&2; return 1; }
    sed -n 's/^<<"accepted", \([0-9]*\)>>$/\1/p' "$place/out" | sort -nu | awk -v first="$first" '{ print first + $1 - 1 }'
}

# The runs of the batch in this folder in which some threads did not come to their ends.
unfinished() {
    sed -n 's/^Finished == <<\(.*\)>>$/\1/p' "$2/Traces.tla" | tr -d ' ' | tr , '\n' | awk -v first="$1" '/FALSE/ { print first + NR - 1 }'
}

# Follows all batches of runs that were not followed before; fails if a run is rejected or does not end.
accept() {
    local module=$1 executable=$2 runs=$3 first count place accepted rejected all
    all=$work/$module-$(cat "$executable" spec/*/"$module.tla" ci/traces/Following.tla ci/traces/"${module}"Trace.* | sha256sum | head -c 16)
    mkdir -p "$all"
    for ((first = 1; first <= runs; first += batch)); do
        count=$((first + batch - 1 <= runs ? batch : runs - first + 1))
        place=$all/$first-$count
        [ -f "$place.accepted" ] && continue
        follow "$module" "$executable" "$first" "$count" "$place" >"$place.followed" || continue
        [ ! -f "$place/crash" ] || cat "$place/crash"
        comm -23 <(sort "$place.followed") <(unfinished "$first" "$place" | sort) >"$place.accepted"
    done
    accepted=$(find "$all" -name '*.accepted' -exec cat {} + | sort -nu)
    rejected=$(comm -23 <(seq 1 "$runs" | sort) <(sort <<<"$accepted") | sort -n)
    accepted=$((runs - $(grep -c . <<<"$rejected" || true)))
    step "$module: $accepted of $runs traces accepted"
    [ "$runs" -lt 1000 ] || record "$module" "the source" "$accepted of $runs accepted"
    [ -z "$rejected" ] || { xargs echo "rejected: ci/traces.sh $module --seed" <<<"$rejected"; return 1; }
}

# Builds what makes traces of a source with this hazard.
broken() {
    local name=$1 changed executable
    changed=$(python3 ci/mutants/hazards.py apply "$name" --into "$work/tree")
    executable=$(
        cd "$work/tree"
        # It runs for less than a second.
        CARGO_TARGET_DIR=$work/build CARGO_PROFILE_DEV_OPT_LEVEL=0 CARGO_PROFILE_DEV_DEBUG=0 build
    ) || true
    xargs -d '\n' cp --parents -t "$work/tree" <<<"$changed"
    [ -n "$executable" ] && cp "$executable" "$work/broken-$name"
}

# Notes whether a run of a source with this hazard is rejected, or crashes.
reject() {
    local module=$1 name=$2 accepted first result=
    local source="[\`$name\`](../../crates/ondeck/tests/mutants/$name.toml)"
    for ((first = 1; first <= tries; first += some)); do
        accepted=$(follow "$module" "$work/broken-$name" "$first" "$some" "$work/hazard" | wc -l) || { echo "$name: TLC failed"; break; }
        if [ -f "$work/hazard/crash" ]; then
            result=$(cat "$work/hazard/crash")
        elif [ "$accepted" -lt "$some" ]; then
            result="$((some - accepted)) of the runs $first to $((first + some - 1)) rejected"
        fi
        if [ -n "$result" ]; then
            printf '%-40s %s\n' "$name" "$result"
            record "$module" "$source" "$result"
            return
        fi
    done
    echo "$name" >>"$work/missed"
    [ "$first" -le "$tries" ] || {
        printf '%-40s ACCEPTED\n' "$name"
        record "$module" "$source" "$tries of $tries accepted"
    }
}

modules=(Mutex RwLock Condvar)
case ${1:-} in
    [A-Z]*) modules=("$1"); shift ;;
esac
runs=1000 with=yes only=
case ${1:-} in
    --quick) runs=40 with=no ;;
    --runs) runs=$2 with=no ;;
    --hazards) runs=0 ;;
    --hazard) runs=0 only=$2 ;;
    --seed)
        mkdir -p "$work"
        accepted=$(follow "${modules[0]}" "$(build)" "$2" 1 "$work/one" "IsFarther IsNew")
        if [ -n "$accepted" ]; then echo "accepted"; exit; fi
        cat "$work/one/out" "$work/one/Traces.tla"
        exit 1
        ;;
    '') ;;
    *) echo "unknown option $1" >&2; exit 2 ;;
esac

status=0
if [ "$runs" -gt 0 ]; then
    executable=$(build)
    for module in "${modules[@]}"; do
        accept "$module" "$executable" "$runs" || status=1
    done
fi
if [ "$with" = yes ]; then
    rm -rf "$work/tree"
    mkdir -p "$work/tree"
    git ls-files -z --cached --others --exclude-standard | xargs -0 cp --parents -t "$work/tree"
    for module in "${modules[@]}"; do
        all=0
        : >"$work/missed"
        for name in ${only:-${hazards[$module]}}; do
            all=$((all + 1))
            compiles=yes
            broken "$name" || compiles=no
            # TLC has one source while the next compiles.
            wait
            if [ "$compiles" = yes ]; then
                reject "$module" "$name" &
            else
                echo "$name DOES NOT COMPILE" | tee -a "$work/missed"
            fi
        done
        wait
        bad=$(wc -l <"$work/missed")
        step "$module: $((all - bad)) of $all sources with a hazard rejected"
        [ "$bad" -eq 0 ] || status=1
    done
fi
exit "$status"
