#!/usr/bin/env bash
# libondeck for C and C++: the header is that of the source, the library has the symbols that it
# should, tests and examples pass with gcc and clang, plain and under sanitizers, and copies of the
# library find each other.
#
#   ci/capi.sh              one minute, two where nothing is compiled
#   ci/capi.sh --mistakes   also: the tests fail with mistakes that are put in on purpose; one minute more
#
# The header annotates the locks for ThreadSanitizer: deliberate races must be reported, and no others.
source "$(dirname "$0")/common.sh"
need_packages gcc g++ clang libclang-rt-dev binutils pkg-config python3
crate=locks/ondeck-capi
target=$(realpath -m "${CARGO_TARGET_DIR:-target}")
native=$target/native

step "the header"
# With all crates' features, as the other tests build it. They include those of the functions in Rust.
cargo test --locked -q --workspace --test header

step "the libraries"
"$crate/link.sh"
library=$native/lib/libondeck.so.0
listed=$(sed -n 's/^ *\(ondeck_[a-z0-9_]*\);$/\1/p' "$crate/ondeck.map" | sort)
exported=$(nm -D --defined-only "$library" | sed -n 's/.* [A-Z] \(.*\)@@ONDECK_0\.1$/\1/p' | sort)
diff <(echo "$listed") <(echo "$exported") || { echo "libondeck.so.0 has other symbols than ondeck.map"; exit 1; }
others=$(nm -D --defined-only "$library" | grep -v ' A ONDECK_0\.1$' | grep -cv '@@ONDECK_0\.1$' || true)
[ "$others" -eq 0 ] || { echo "libondeck.so.0 has $others symbols without a version"; exit 1; }
alone=$(nm -g --defined-only "$native/lib/libondeck.a" | sed -n 's/.* [A-Z] \(.*\)$/\1/p' | sort)
diff <(echo "$listed") <(echo "$alone") || { echo "libondeck.a has other symbols than ondeck.map"; exit 1; }
# What raises a panic as an exception is not in the library: with panic = "abort" nothing can unwind
# into C.
if nm "$library" | grep -E "_Unwind_(RaiseException|ForcedUnwind|Resume_or_Rethrow)"; then
    echo "libondeck.so.0 can unwind into its callers"
    exit 1
fi
# No pipes: grep stops at the first match, and readelf would then fail.
grep -q 'soname: \[libondeck.so.0\]' <<<"$(readelf -d "$library")" || { echo "libondeck.so.0 has another soname"; exit 1; }
grep -q 'GNU_STACK.*RW ' <<<"$(readelf -lW "$library")" || { echo "libondeck.so.0 wants a stack of code"; exit 1; }

work=$target/capi
rm -rf "$work"
mkdir -p "$work"
export native work crate
export ASAN_OPTIONS=detect_stack_use_after_return=1 UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1
export TSAN_OPTIONS=halt_on_error=1:exitcode=66

# build COMPILER STANDARD SOURCE NAME FLAGS: compiles a program with all warnings.
build() {
    local include
    include=$(PKG_CONFIG_PATH=$native/lib/pkgconfig pkg-config --define-variable=prefix="$native" --cflags --libs ondeck)
    # shellcheck disable=SC2086 # several flags
    "$1" -std="$2" -Wall -Wextra -Wshadow -Wconversion -Werror -pedantic -pthread -g "$crate/$3" -o "$work/$4" "${@:5}" \
        $include -Wl,-rpath,"$native/lib"
}

# Runs a program that must succeed. ThreadSanitizer of older compilers needs addresses that are not
# randomized.
run() {
    setarch -R "$work/$1" "${@:2}" >"$work/$1.log" 2>&1 || { cat "$work/$1.log"; echo "$1 failed"; return 1; }
}

# one COMPILERS KIND SOURCE: compiles and runs one of the matrix.
one() {
    set -euo pipefail
    local compiler=$1 kind=$2 source=$3 standard=gnu11 flags=()
    case $source in
        examples/bank.c) standard=c11 ;;
        *.c) ;;
        examples/workers.cpp) standard=c++20 ;;
        *) standard=c++17 ;;
    esac
    case $source in *.cpp) case $compiler in gcc) compiler=g++ ;; clang) compiler=clang++ ;; esac ;; esac
    case $kind in
        plain) flags=(-O2) ;;
        debug) flags=(-O0 -fno-pic -no-pie) ;;
        called) flags=(-O2 -DONDECK_NO_INLINE) ;;
        # At -O1 gcc inlines what is called through pointers, and refuses what it cannot inline.
        counted) flags=(-O1 -DONDECK_STATS) ;;
        address) flags=(-O1 "-fsanitize=address,undefined" -fno-sanitize-recover=all) ;;
        thread) flags=(-O1 -fsanitize=thread) ;;
    esac
    local name
    name=$1-$kind-$(basename "$source" | tr . -)
    build "$compiler" "$standard" "$source" "$name" "${flags[@]}"
    run "$name"
}
export -f build run one

step "tests and examples"
{
    for compiler in gcc clang; do
        for source in examples/bank.c examples/queue.cpp examples/workers.cpp tests/c/calls.c tests/c/stress.c tests/c/family.c \
            tests/c/types.cpp tests/c/family.cpp; do
            for kind in plain address thread; do
                echo "$compiler $kind $source"
            done
        done
        for source in tests/c/calls.c tests/c/stress.c tests/c/family.c; do
            echo "$compiler debug $source"
            echo "$compiler called $source"
        done
        echo "$compiler plain tests/c/order.c"
        echo "$compiler debug tests/c/order.c"
        for kind in plain address thread counted; do
            echo "$compiler $kind tests/c/counted.c"
        done
        for source in tests/c/calls.c tests/c/types.cpp examples/stats.c examples/stats.cpp; do
            echo "$compiler counted $source"
        done
    done
} >"$work/matrix"
xargs -P "$(nproc)" -L 1 bash -c 'one "$@"' one <"$work/matrix"
echo "$(wc -l <"$work/matrix") programs"

step "without membarrier, and in other standards"
for program in gcc-plain-stress-c clang-plain-stress-c gcc-called-stress-c gcc-plain-calls-c gcc-plain-family-c; do
    ONDECK_NO_MEMBARRIER=1 run "$program"
done
for compiler in gcc clang; do
    for standard in c99 c2x c++11 c++20 c++2b; do
        language=c
        [ "${standard#c++}" = "$standard" ] || language=c++
        # Two headers of a program may both include it.
        printf '#include <ondeck.h>\n%.0s' 1 2 | "$compiler" -x "$language" -std="$standard" -fsyntax-only -Wall -Wextra \
            -Werror -pedantic -I"$native/include" -
    done
    # C89 has no `long long`, so -pedantic would warn.
    echo '#include <ondeck.h>' | "$compiler" -x c -std=c89 -fsyntax-only -Wall -Werror -I"$native/include" -
done

step "races"
for compiler in gcc clang; do
    build "$compiler" gnu11 tests/c/race.c race -O1 -fsanitize=thread
    for how in locked waited attempted; do
        run race "$how"
    done
    for how in unlocked failed neighbour shared; do
        if run race "$how" >"$work/found" || ! grep -q "WARNING: ThreadSanitizer: data race" "$work/found"; then
            cat "$work/found"
            echo "$compiler: the race of '$how' was not reported"
            exit 1
        fi
    done
    build "$compiler" gnu11 tests/c/inversion.c inversion -O1 -fsanitize=thread
    if run inversion >"$work/found" || ! grep -q "WARNING: ThreadSanitizer: lock-order-inversion" "$work/found"; then
        cat "$work/found"
        echo "$compiler: the orders of two mutexes were not reported"
        exit 1
    fi
done

step "a standard library of its own, if there is another"
if echo '#include <mutex>' | clang++ -stdlib=libc++ -x c++ -fsyntax-only - 2>/dev/null; then
    build clang++ c++17 tests/c/types.cpp libc++ -stdlib=libc++
    run libc++
fi

step "copies of the library"
ci/capi/copies.sh "$native"

if [ "${1:-}" = --mistakes ]; then
    step "mistakes that the tests catch"
    # With a library whose parked threads do not look by themselves: a lost wake is a hang, however quiet the machine is.
    RUSTFLAGS='--cfg ondeck_slices="hour"' CARGO_TARGET_DIR=$target/slices "$crate/link.sh"
    ci/capi/mistakes.sh "$target/slices/native"
fi
