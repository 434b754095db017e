# shellcheck shell=bash
# Sourced by every script here: options, installing, the program with and without the shim, turns, the record.
#
# A script sets `program`, `title`, `unit` (of its rate), `package` (whose version is recorded), `packages` (to install) and
# defines
#
#   prepare    makes in $scratch what all parts need, if anything; once
#   check      says `ok TEXT` for each check that passed, and ends with another status than 0 if one did not
#   measure    says `rate NUMBER`, of work that takes about $seconds
#
# and ends with `main "$@"`. `check` and `measure` run as processes of their own with a time limit, once for each side
# or turn. They start programs by `"${prefix[@]}" PROGRAM`, which preloads the shim on the side `ondeck` only, servers
# by `serve`, and clients of servers by `"${client[@]}" PROGRAM`, which are never profiled. Whatever ends a part stops
# its servers.
set -euo pipefail
ulimit -c 0
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(cd "$here/../.." && pwd)
script=$here/$(basename "$0")
export LC_ALL=C

usage() {
    cat <<EOF
usage: $(basename "$0") [OPTION]...

Installs ${title:?} from Debian's packages, runs its checks with glibc's locks and with the shim's, and compares
the rates.

  --quick          checks and turns are short; half a minute
  --turns COUNT    measurements of each side (default 5)
  --seconds COUNT  how long a measurement takes, about (default 5; with --quick 1)
  --limit SECONDS  a check or measurement that takes longer hangs (default 300, for busy machines)
  --check-only     no measurements
  --shim FILE      libondeck_preload.so; else of ${CARGO_TARGET_DIR:-target}/native/lib, else the installed one
  --ondeck FILE    the command, for the profile; else that on the PATH, and without one there is no profile
  --record         writes docs/results/real-programs/${program:?}.json, and docs/data/real-programs.md anew
  --no-install     the packages are there

Exit status: 0 all checks pass with the shim, 1 one does not, 2 wrong usage, 77 something is missing.
EOF
}

wrong() {
    echo "$*; --help has all options" >&2
    exit 2
}

skip() {
    echo "skipped: $*" >&2
    exit 77
}

whole() {
    [[ $2 =~ ^[1-9][0-9]{0,3}$ ]] || wrong "$1 needs a whole number from 1 to 9999, not '$2'"
}

# Installs the Debian packages that are missing. A package that comes with a service does not start it.
need_packages() {
    [ -z "${no_install:-}" ] || return 0
    local missing=() as_root=() policy=/usr/sbin/policy-rc.d made='' status=0
    for name in "$@"; do
        dpkg-query -W -f='${Status}' "$name" 2>/dev/null | grep -q 'install ok installed' || missing+=("$name")
    done
    [ ${#missing[@]} -gt 0 ] || return 0
    command -v apt-get >/dev/null || skip "needs ${missing[*]}, and there is no apt-get to install them with"
    [ "$(id -u)" -eq 0 ] || as_root=(sudo)
    if [ ! -e $policy ]; then
        printf '#!/bin/sh\nexit 101\n' | "${as_root[@]}" tee $policy >/dev/null
        "${as_root[@]}" chmod +x $policy
        made=yes
    fi
    "${as_root[@]}" apt-get update -qq &&
        DEBIAN_FRONTEND=noninteractive "${as_root[@]}" apt-get install -y -qq --no-install-recommends \
            -o DPkg::Lock::Timeout=300 "${missing[@]}" >/dev/null || status=$?
    [ -z "$made" ] || "${as_root[@]}" rm -f $policy
    [ "$status" -eq 0 ] || skip "apt-get could not install ${missing[*]}"
}

# Whether apt knows a package.
packaged() {
    apt-cache show "$1" >/dev/null 2>&1
}

prepare() {
    :
}

# -- in a part ---------------------------------------------------------------------------------------------------

ok() {
    echo "$*" >>"$scratch/passed.$side"
}

rate() {
    echo "$1" >"$scratch/rate"
}

fail() {
    echo "failed: $*" >&2
    exit 1
}

# per_second COUNT START: the rate of so many since $EPOCHREALTIME was START.
per_second() {
    awk -v count="$1" -v start="$2" -v end="$EPOCHREALTIME" 'BEGIN { printf "%.6g\n", count / (end - start) }'
}

servers=()

# serve LOG PROGRAM ARGS...: starts a server on this side. Its standard output and error go to $scratch/LOG.
# `user` (an array) may hold a command that changes the user.
user=()
serve() {
    local log=$scratch/$1
    shift
    "${user[@]}" "${prefix[@]}" "$@" >"$log" 2>&1 &
    servers+=($!)
}

# until_ready COMMAND...: waits until the command succeeds, and makes sure that the server of this side has the shim,
# and that of the other has not.
until_ready() {
    local server=${servers[-1]}
    for ((tries = 0; ; tries++)); do
        kill -0 "$server" 2>/dev/null || fail "the server ended at its start: $(tail -n 5 "$scratch"/*.log)"
        ! "$@" >/dev/null 2>&1 || break
        [ $tries -lt 300 ] || fail "the server is not ready after 30 s: $(tail -n 5 "$scratch"/*.log)"
        sleep 0.1
    done
    local has=glibc
    ! grep -q libondeck_preload "/proc/$server/maps" || has=ondeck
    [ "$side" = profiled ] || [ $has = "$side" ] || fail "the server runs with $has's locks, on the side $side"
}

# Stops the servers, the last one first. One that crashes at its end fails the part.
stop() {
    local status server
    while [ ${#servers[@]} -gt 0 ]; do
        server=${servers[-1]}
        kill -TERM "$server" 2>/dev/null || true
        for ((tries = 0; tries < 200; tries++)); do
            kill -0 "$server" 2>/dev/null || break
            sleep 0.1
        done
        kill -KILL "$server" 2>/dev/null && echo "killed: the server did not end within 20 s of SIGTERM" >&2
        status=0
        wait "$server" || status=$?
        # Not before its end: what ends the script in between stops it again.
        unset 'servers[-1]'
        [ $status -eq 0 ] || [ $status -eq 143 ] ||
            fail "the server ended with status $status: $(tail -n 5 "$scratch"/*.log)"
    done
}

part() {
    side=$2
    prefix=(env LD_PRELOAD="$scratch/libondeck_preload.so")
    [ "$side" != glibc ] || prefix=(env -u LD_PRELOAD)
    # shellcheck disable=SC2034  # by scripts with servers
    client=("${prefix[@]}")
    [ "$side" != profiled ] ||
        prefix=("$ondeck" run --profile "$scratch/profile/locks.jsonl" --)
    # The time limit does not cut short what stops the servers.
    trap 'trap "" TERM INT; stop' EXIT
    trap 'exit 124' TERM INT
    case $1 in
        check)
            : >"$scratch/passed.$side"
            check
            ;;
        measure) measure ;;
    esac
}

# -- the whole ---------------------------------------------------------------------------------------------------

# run_part PART SIDE: its own process group, which the time limit ends as a whole.
child=''
run_part() {
    local status=0
    # A server that a fault has stopped must not stop the script: the second limit is a SIGKILL to the group.
    timeout --kill-after=30 "$limit" bash "$script" --part "$1" "$2" >"$scratch/output" 2>&1 &
    child=$!
    wait "$child" || status=$?
    child=''
    [ $status -ne 124 ] || echo "failed: no end after $limit s" >>"$scratch/output"
    return $status
}

find_shim() {
    local places=("${CARGO_TARGET_DIR:-$root/target}/native/lib" /usr/local/lib/ondeck /usr/lib/ondeck)
    [ -z "$ondeck" ] || places+=("$(dirname "$ondeck")/../lib/ondeck")
    for place in "${places[@]}"; do
        [ ! -f "$place/libondeck_preload.so" ] || { shim=$place/libondeck_preload.so; return; }
    done
    skip "libondeck_preload.so is not in ${places[*]}: build it by locks/ondeck-preload/link.sh, or name it by --shim"
}

main() {
    if [ "${1:-}" = --part ]; then
        part "$2" "$3"
        exit
    fi
    quick='' turns=5 seconds='' limit=300 check_only='' shim='' record='' no_install=''
    ondeck=$(command -v ondeck || true)
    while [ $# -gt 0 ]; do
        case $1 in
            --turns | --seconds | --limit | --shim | --ondeck) [ $# -ge 2 ] || wrong "$1 needs a value" ;;&
            --quick) quick=yes ;;
            --check-only) check_only=yes ;;
            --record) record=yes ;;
            --no-install) no_install=yes ;;
            --turns) whole "$1" "$2"; turns=$2; shift ;;
            --seconds) whole "$1" "$2"; seconds=$2; shift ;;
            --limit) whole "$1" "$2"; limit=$2; shift ;;
            --shim) [ -f "$2" ] || wrong "--shim: there is no file '$2'"; shim=$2; shift ;;
            --ondeck) [ -x "$2" ] || wrong "--ondeck: there is no program '$2'"; ondeck=$(realpath "$2"); shift ;;
            --help | -h) usage; exit ;;
            *) wrong "unknown option '$1'" ;;
        esac
        shift
    done
    [ "$turns" -ge 5 ] || wrong "--turns $turns: fewer than 5 measurements a side have no interval"
    [ -n "$seconds" ] || seconds=$([ -n "$quick" ] && echo 1 || echo 5)
    [ -n "$shim" ] || find_shim
    need_packages "${packages[@]:?}" python3

    scratch=$(mktemp -d "${TMPDIR:-/tmp}/ondeck-$program.XXXXXX")
    trap 'rm -rf "$scratch"' EXIT
    trap '[ -z "$child" ] || { kill -TERM "$child"; wait "$child" || true; }; exit 130' INT TERM
    # Other users' servers load it, too.
    chmod 755 "$scratch"
    mkdir -m 1777 "$scratch/profile"
    cp "$shim" "$scratch/libondeck_preload.so"
    LD_PRELOAD=$scratch/libondeck_preload.so grep -q libondeck_preload /proc/self/maps ||
        fail "the loader does not load $shim"
    export quick seconds limit scratch ondeck no_install ONDECK_PRELOAD_LIBRARY="$scratch/libondeck_preload.so"
    prepare

    local worked=yes side turn sides status
    for side in glibc ondeck; do
        status=0
        run_part check $side || status=$?
        if [ $status -eq 0 ]; then
            sed "s/^/$side: passed: /" "$scratch/passed.$side"
        else
            sed "s/^/$side: passed: /" "$scratch/passed.$side"
            sed "s/^/$side: /" "$scratch/output"
            echo "$side: the check ended with status $status"
            [ $side = ondeck ] || skip "the check does not pass with glibc's locks"
            tail -n 3 "$scratch/output" >"$scratch/failed"
            worked=''
        fi
    done
    "$here/record.py" begin "$scratch"
    # The first turn is warm-up and is thrown away.
    for ((turn = 0; turn <= turns && ${#check_only} == 0 && ${#worked} > 0; turn++)); do
        sides=(glibc ondeck)
        [ $((turn % 2)) -eq 0 ] || sides=(ondeck glibc)
        for side in "${sides[@]}"; do
            rm -f "$scratch/rate"
            if ! run_part measure "$side"; then
                sed "s/^/$side: /" "$scratch/output"
                [ "$side" = ondeck ] || skip "the measurement fails with glibc's locks"
                cp "$scratch/output" "$scratch/failed"
                worked=''
                break 2
            fi
            [ $turn -eq 0 ] || cat "$scratch/rate" >>"$scratch/rates.$side"
        done
    done
    "$here/record.py" end "$scratch"
    if [ -n "$ondeck" ] && [ -n "$worked" ] && "$ondeck" run --help >/dev/null 2>&1; then
        run_part measure profiled || sed 's/^/profile: /' "$scratch/output"
    fi
    local arguments=(--program "$program" --title "$title" --unit "$unit" --package "$package" --lock ondeck)
    [ -z "$record" ] || arguments+=(--write "$root/docs/results/real-programs/$program.json")
    "$here/record.py" finish "$scratch" "${arguments[@]}"
    [ -z "$record" ] || "$here/page.py"
    [ -n "$worked" ]
}
