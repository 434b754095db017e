#!/usr/bin/env bash
# Builds the programs of this folder, runs them against plain glibc, and again under the shim if it is given. The
# two outcome logs, what was printed on standard error and the exit statuses must be equal, and no expectation of
# a program may fail.
#
#   run.sh [--preload LIBRARY] [--alone] [--long] [PROGRAM...]
#
#   --preload LIBRARY   the shim; without it only plain glibc is checked
#   --alone             nothing else is preloaded beside the shim: no allocator, no other interposer
#   --long              signals, time-outs and cancellations race for ten minutes
#   PROGRAM             one of the files here, without its ending; all of them if none is named
#
# Ends with 0 if all is well, 1 if not, 2 for a wrong call, and 77 if a tool is missing.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
preload='' alone=no long=no names=()
while [ $# -gt 0 ]; do
    case $1 in
    --preload)
        [ $# -ge 2 ] || { echo "run.sh: $1 needs a value" >&2; exit 2; }
        preload=$(realpath -e "$2") || exit 2
        shift
        ;;
    --alone) alone=yes ;;
    --long) long=yes ;;
    -*) echo "run.sh: no option $1; see the comment at the top of run.sh" >&2; exit 2 ;;
    *) names+=("$1") ;;
    esac
    shift
done
for tool in gcc g++ timeout cmp; do
    command -v "$tool" >/dev/null || { echo "skipped: needs $tool" >&2; exit 77; }
done

target=${CARGO_TARGET_DIR:-$here/../../../../target}
mkdir -p "$target/conformance"
build=$(cd "$target/conformance" && pwd)
flags=(-O2 -g -Wall -Wextra -Werror -pthread)
# A library is found beside the object that needs it. The linker itself is to read $ORIGIN.
# shellcheck disable=SC2016
beside='-Wl,-rpath,$ORIGIN'
failed=0

wrong() {
    printf 'FAILED %s\n' "$*" >&2
    failed=$((failed + 1))
}

# Compiles one file, if it or a header is newer than what there is.
compile() {
    local source=$1 output=$2
    shift 2
    [ -n "$(find "$source" "$here"/*.h "${BASH_SOURCE[0]}" -newer "$output" 2>/dev/null || echo new)" ] || return 0
    case $source in
    *.cc) g++ -std=c++17 "${flags[@]}" "$source" -o "$output" "$@" ;;
    *) gcc -std=gnu11 "${flags[@]}" "$source" -o "$output" "$@" ;;
    esac
}

programs=()
for source in "$here"/*.c "$here"/*.cc; do
    name=$(basename "${source%.*}")
    case $name in library_*) continue ;; esac
    programs+=("$name")
done
[ ${#names[@]} -gt 0 ] || names=("${programs[@]}")
for name in "${names[@]}"; do
    [[ " ${programs[*]} " == *" $name "* ]] || {
        echo "run.sh: no program $name; there are ${programs[*]}" >&2
        exit 2
    }
done

for source in "$here"/library_*.c; do
    first=()
    case $source in */library_early.c) first=('-Wl,-z,initfirst') ;; esac
    compile "$source" "$build/$(basename "${source%.c}").so" -fPIC -shared "$beside" "${first[@]}"
done
for name in versions "${names[@]}"; do
    source=$here/$name.c
    [ -e "$source" ] || source=$here/$name.cc
    libraries=()
    [ "$name" != constructors ] || libraries=("$build/library_early.so")
    compile "$source" "$build/$name" "${libraries[@]}" "$beside"
done
[[ " ${names[*]} " != *" calls "* ]] || compile "$here/calls.c" "$build/calls-static" -static

seconds=4 limit=${CONFORM_LIMIT:-600}
[ $long = no ] || seconds=600 limit=3600

# run LABEL PRELOADED PROGRAM [ARGUMENT...]: the log of a run is LABEL.out, LABEL.err and LABEL.status. A hang is
# ended after ten minutes; nothing else depends on time.
run() {
    local label=$1 preloaded=$2 status=0
    shift 2
    (
        cd "$build"
        export CONFORM_SECONDS=$seconds
        if [ -n "$preloaded" ]; then
            timeout -k 10 "$limit" env LD_PRELOAD="$preloaded" "$@"
        else
            timeout -k 10 "$limit" env -u LD_PRELOAD "$@"
        fi
    ) >"$build/$label.out" 2>"$build/$label.err" </dev/null || status=$?
    echo "$status" >"$build/$label.status"
}

# expect_good LABEL: no expectation failed.
expect_good() {
    local label=$1 status
    status=$(cat "$build/$label.status")
    [ "$status" -eq 0 ] && [ ! -s "$build/$label.err" ] && return
    if [ "$status" -eq 124 ] || [ "$status" -eq 137 ]; then
        wrong "$label: hangs after the line: $(tail -n 1 "$build/$label.out")"
    else
        wrong "$label: status $status after the line: $(tail -n 1 "$build/$label.out")"
    fi
    head -n 10 "$build/$label.err" >&2
}

# expect_equal LABEL OTHER: the two outcomes are the same.
expect_equal() {
    local part
    for part in out err status; do
        cmp -s "$build/$1.$part" "$build/$2.$part" && continue
        wrong "$2: its .$part is not that of $1:"
        diff "$build/$1.$part" "$build/$2.$part" | head -n 10 >&2 || true
    done
}

# pair PROGRAM LABEL PRELOADED: the program under what is preloaded against the plain run before.
pair() {
    run "$2" "$3" "./$1"
    expect_good "$2"
    expect_equal "$1.plain" "$2"
}

chosen() {
    [[ " ${names[*]} " == *" $1 "* ]]
}

if [ -n "$preload" ]; then
    run server "$preload" ./versions --server
    if [ "$(cat "$build/server.out")" != "$preload" ]; then
        echo "run.sh: mutexes are served by '$(cat "$build/server.out")' and not by $preload" >&2
        cat "$build/server.err" >&2
        exit 1
    fi
fi

for name in "${names[@]}"; do
    before=$SECONDS
    run "$name.plain" '' "./$name"
    expect_good "$name.plain"
    [ -z "$preload" ] || pair "$name" "$name.shim" "$preload"
    printf '%-14s %d s\n' "$name" $((SECONDS - before))
done

# What is preloaded beside the shim.
allocators=(libjemalloc.so.2 libtcmalloc_minimal.so.4 libmimalloc.so.2)
for name in threads fork; do
    if [ $alone = yes ] || ! chosen "$name" || [ -z "$preload" ]; then continue; fi
    for allocator in "${allocators[@]}"; do
        library=$(ldconfig -p | awk -v name="$allocator" '$1 == name { print $NF; exit }')
        if [ -z "$library" ]; then
            printf 'not run: %s is not installed\n' "$allocator"
            continue
        fi
        pair "$name" "$name.shim-$allocator" "$preload:$library"
        pair "$name" "$name.$allocator-shim" "$library:$preload"
    done
done
for name in calls conditions constructors; do
    if [ $alone = yes ] || ! chosen "$name" || [ -z "$preload" ]; then continue; fi
    pair "$name" "$name.shim-interposer" "$preload:$build/library_interposer.so"
    pair "$name" "$name.interposer-shim" "$build/library_interposer.so:$preload"
done

# Where the dynamic linker ignores what is preloaded, the program works as it does without.
if chosen calls && [ -n "$preload" ]; then
    run calls.static "$preload" ./calls-static
    expect_good calls.static
    expect_equal calls.plain calls.static
    # So it does where the loader is musl's.
    if command -v musl-gcc >/dev/null; then
        echo 'int main(void) { return 0; }' | musl-gcc -x c - -o "$build/musl"
        run musl "$preload" ./musl
        expect_good musl
    else
        printf 'not run: musl-gcc is not installed\n'
    fi
    if [ "$(id -u)" -eq 0 ]; then
        cp "$build/versions" "$build/versions-setuid"
        chown nobody "$build/versions-setuid"
        chmod 4755 "$build/versions-setuid"
        run versions.setuid "$preload" ./versions-setuid --server
        case $(cat "$build/versions.setuid.out") in
        */libc.so.6) ;;
        *) printf 'not run: no setuid here, mutexes are served by %s\n' "$(cat "$build/versions.setuid.out")" ;;
        esac
        [ "$(cat "$build/versions.setuid.status")" -eq 0 ] || wrong "versions.setuid: $(cat "$build/versions.setuid.err")"
        rm "$build/versions-setuid"
    fi
fi

if [ "$failed" -gt 0 ]; then
    printf '%d failed\n' "$failed" >&2
    exit 1
fi
if [ -n "$preload" ]; then
    printf 'equal outcomes of plain glibc and %s\n' "$(basename "$preload")"
else
    printf 'plain glibc is as expected\n'
fi
