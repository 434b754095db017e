#!/usr/bin/env bash
# The locks' tests on other systems and CPUs: `ci/systems.sh [--check] [NAME...]`, all of them without a name.
#
#   --check  the compiler and clippy only, for every target below and those that nothing here runs; without a name also
#            the other crates for aarch64, and that the features for 64-bit Linux say so elsewhere
#
# Linux on other CPUs runs under qemu-user, Windows under Wine, musl as it is, and i686 too where the CPU is an x86-64. The
# two systems of the source that no target has, `portable` and `unthreaded`, run here by their names. A system whose
# tools cannot be installed is skipped. Ends with the number of those that passed and failed; with 77 if all were
# skipped, and with --check also if one was.
#
# On each system run the unit tests, `api` (what a system promises to the locks, and the locks) and the conformance of the
# zoo's locks, in fewer rounds than elsewhere. ONDECK_TEST_THREADS is the number of tests that run at the same time,
# ONDECK_TEST_ROUNDS of rounds, ONDECK_TEST_LIMIT the most seconds for the crate's tests on a system, with what is
# compiled, and for the zoo's.
source "$(dirname "$0")/common.sh"

manifest=ci/systems/Cargo.toml
zoo_manifest=ci/systems/zoo/Cargo.toml
i686_libraries=/usr/i686-linux-gnu/lib
longest=${ONDECK_TEST_LIMIT:-900}
check_only=
[ "${1-}" != --check ] || { check_only=1; shift; }
: "${CARGO_TARGET_DIR:=$PWD/target}"
export CARGO_TARGET_DIR=$CARGO_TARGET_DIR/systems

# name, target, Debian packages, linker, runner
systems=(
    "aarch64|aarch64-unknown-linux-gnu|qemu-user gcc-aarch64-linux-gnu libc6-dev-arm64-cross|aarch64-linux-gnu-gcc|qemu-aarch64 -L /usr/aarch64-linux-gnu"
    "armv7|armv7-unknown-linux-gnueabihf|qemu-user gcc-arm-linux-gnueabihf libc6-dev-armhf-cross|arm-linux-gnueabihf-gcc|qemu-arm -L /usr/arm-linux-gnueabihf"
    "i686|i686-unknown-linux-gnu|gcc-i686-linux-gnu libc6-dev-i386-cross qemu-user|i686-linux-gnu-gcc|qemu-i386 -L /usr/i686-linux-gnu"
    "riscv64|riscv64gc-unknown-linux-gnu|qemu-user gcc-riscv64-linux-gnu libc6-dev-riscv64-cross|riscv64-linux-gnu-gcc|qemu-riscv64 -L /usr/riscv64-linux-gnu"
    "powerpc64le|powerpc64le-unknown-linux-gnu|qemu-user gcc-powerpc64le-linux-gnu libc6-dev-ppc64el-cross|powerpc64le-linux-gnu-gcc|qemu-ppc64le -L /usr/powerpc64le-linux-gnu"
    "s390x|s390x-unknown-linux-gnu|qemu-user gcc-s390x-linux-gnu libc6-dev-s390x-cross|s390x-linux-gnu-gcc|qemu-s390x -L /usr/s390x-linux-gnu"
    "musl|x86_64-unknown-linux-musl|gcc||"
    "windows|x86_64-pc-windows-gnu|wine wine64 gcc-mingw-w64-x86-64|x86_64-w64-mingw32-gcc|wine"
    "portable|x86_64-unknown-linux-gnu|gcc||"
    "unthreaded|x86_64-unknown-linux-gnu|gcc||"
)

# The tests of `api` that run in processes of their own.
of_processes=(
    fork collision:: ipc:: no_membarrier:: one_cpu:: polling:: unlock_mode:: latch::a_panic_begins
    pi::a_deadline_on_a_clock pi::an_operation_that rwlock_counts::a_bump_that_cannot_end
)

# Targets that nothing here runs: they are only compiled.
checked_only=(
    aarch64-apple-darwin x86_64-apple-darwin aarch64-apple-ios x86_64-unknown-freebsd x86_64-unknown-netbsd
    aarch64-linux-android armv7-linux-androideabi aarch64-unknown-linux-musl aarch64-pc-windows-msvc
    wasm32-unknown-unknown wasm32-wasip1-threads
)

have_target() {
    rustup target list --installed 2>/dev/null | grep -qx "$1" || rustup target add "$1" >/dev/null 2>&1
}

# lint TARGET...: the compiler and clippy for all of them at once, so that no CPU idles at the end of each. The zoo is
# among them.
lint() {
    local target targets=()
    for target in "$@"; do targets+=(--target "$target"); done
    # On Android, whose thread-local variables are the library's, clippy 1.95 misses the `const` that is there.
    CARGO_TARGET_DIR=${CARGO_TARGET_DIR%/systems} cargo clippy --locked -q --keep-going "${targets[@]}" \
        -p ondeck -p ondeck-zoo -- -D warnings -A clippy::missing_const_for_thread_local
}

# Chooses the two systems of the source that no target has.
source_flags() {
    case $1 in
        portable | unthreaded) echo "--cfg ondeck_system=\"$1\"" ;;
    esac
}

# check NAME|TARGET...: compiles and lints without running.
check() {
    local each name target targets=() together=() flags
    for each in "$@"; do
        name=${each%|*} target=${each#*|}
        flags=$(source_flags "$name")
        if ! have_target "$target"; then
            echo "skipped: cannot install the target $target"
            skipped+=("$name")
        elif [ -z "$flags" ]; then
            together+=("$each") targets+=("$target")
        elif RUSTFLAGS=$flags lint "$target"; then
            passed+=("$name")
        else
            failed+=("$name")
        fi
    done
    [ ${#targets[@]} -gt 0 ] || return 0
    local all_passed=
    ! lint "${targets[@]}" || all_passed=yes
    for each in "${together[@]}"; do
        name=${each%|*} target=${each#*|}
        # The compiler's errors do not name their target.
        if [ -n "$all_passed" ] || lint "$target" >/dev/null 2>&1; then passed+=("$name"); else failed+=("$name"); fi
    done
}

run() {
    local name=$1 target=$2 packages=$3 linker=$4 runner=$5
    # shellcheck disable=SC2086 # a list of words
    (need_packages $packages) || return 77
    have_target "$target" || { echo "skipped: cannot install the target $target"; return 77; }
    [ -z "$runner" ] || command -v "${runner%% *}" >/dev/null || { echo "skipped: no ${runner%% *}"; return 77; }
    local tests=(--lib --test api) zoo=1 arguments=(--test-threads "${ONDECK_TEST_THREADS:-2}") skips=()
    local flags status=0
    flags=$(source_flags "$name")
    export WINEDEBUG=-all ONDECK_TEST_ROUNDS=${ONDECK_TEST_ROUNDS:-50}
    case $name in
        windows) ;;
        portable)
            # A fork that the C library does not see leaves the child the state of the parent's threads.
            export ONDECK_TEST_LIBRARY_FORK=1
            ;;
        unthreaded)
            tests=(--test unthreaded) zoo=
            arguments=(--test-threads 1)
            ;;
        i686)
            tests+=(--test plain)
            if "$i686_libraries/ld-linux.so.2" --version >/dev/null 2>&1; then
                runner=
                tests+=(--test platform)
                flags="-Clink-arg=-Wl,--dynamic-linker=$i686_libraries/ld-linux.so.2,-rpath,$i686_libraries"
            fi
            ;;
        musl)
            tests+=(--test plain --test platform)
            # musl registers a thread's robust list with the kernel only when it first uses a robust mutex: see docs/systems.md.
            skips+=(ipc::)
            ;;
        s390x)
            tests+=(--test plain)
            # The kernel looks for a thread's number in the word of a lock, and the emulated word has the other byte order.
            skips+=(pi::)
            export ONDECK_TEST_WITHOUT=glibc_pi
            ;;
        *) tests+=(--test plain) ;;
    esac
    case $runner in
        # A fork ends qemu-user itself, and a program under it cannot start another.
        qemu-*) skips+=("${of_processes[@]}") ;;
    esac
    local skip
    for skip in "${skips[@]}"; do arguments+=(--skip "$skip"); done
    [ -z "$flags" ] || export RUSTFLAGS=$flags
    local key=${target//-/_}
    key=${key^^}
    [ -z "$linker" ] || export "CARGO_TARGET_${key}_LINKER=$linker"
    [ -z "$runner" ] || export "CARGO_TARGET_${key}_RUNNER=$runner"
    export CARGO_TARGET_DIR=$CARGO_TARGET_DIR/$name
    if [ "$name" = windows ]; then
        local beside=$CARGO_TARGET_DIR/$target/debug/deps
        mkdir -p "$beside"
        x86_64-w64-mingw32-gcc -shared -o "$beside/bcryptprimitives.dll" ci/systems/bcryptprimitives.c -ladvapi32
    fi
    # A test that hangs fails by itself after some minutes. This limit is for emulators that hang.
    timeout -s KILL "$longest" cargo test --locked --no-fail-fast --manifest-path "$manifest" --target "$target" "${tests[@]}" -- \
        "${arguments[@]}" || status=1
    [ -n "$zoo" ] || return "$status"
    # Without the zoo's tests of broken locks.
    timeout -s KILL "$longest" cargo test --locked --no-fail-fast --manifest-path "$zoo_manifest" --target "$target" \
        --test conformance --test rwlocks every_lock -- --show-output "${arguments[@]}" || status=1
    return "$status"
}

passed=() failed=() skipped=()
note() {
    local name=$1 status=$2
    case $status in
        0) passed+=("$name") ;;
        77) skipped+=("$name") ;;
        *) failed+=("$name") ;;
    esac
}

wanted() {
    [ $# -eq 1 ] && return
    local name=$1
    shift
    [[ " $* " == *" $name "* ]]
}

for name in "$@"; do
    [[ " ${checked_only[*]} " == *" $name "* ]] || printf '%s\n' "${systems[@]}" | grep -q "^$name|" ||
        { echo "$name: no such system; there are $(printf '%s ' "${systems[@]%%|*}" "${checked_only[@]}")"; exit 2; }
done

to_check=()
for system in "${systems[@]}"; do
    IFS='|' read -r name target packages linker runner <<<"$system"
    wanted "$name" "$@" || continue
    if [ -n "$check_only" ]; then
        to_check+=("$name|$target")
        continue
    fi
    step "$name ($target)"
    status=0
    (run "$name" "$target" "$packages" "$linker" "$runner") || status=$?
    note "$name" "$status"
done
for target in "${checked_only[@]}"; do
    ! wanted "$target" "$@" || to_check+=("$target|$target")
done
[ ${#to_check[@]} -eq 0 ] || { step "compiled only: ${to_check[*]%|*}"; check "${to_check[@]}"; }

# The laboratory and the command on the other CPU that they are for; and what is for 64-bit Linux says so.
other_crates() {
    local feature told
    have_target aarch64-unknown-linux-gnu && have_target x86_64-pc-windows-gnu || return 77
    CARGO_TARGET_DIR=${CARGO_TARGET_DIR%/systems} cargo check --locked -q --target aarch64-unknown-linux-gnu \
        -p ondeck-lab -p ondeck-report -p ondeck-trace -p ondeck-advise -p ondeck-cli || return 1
    for feature in profile deadlock_detection; do
        told=$(cargo check --locked --target x86_64-pc-windows-gnu -p ondeck --features "$feature" 2>&1) &&
            { echo "ondeck's feature \`$feature\` compiles for Windows, for which it is not meant"; return 1; }
        grep -q 'for 64-bit Linux only' <<<"$told" ||
            { printf '%s\n' "$told" "the reason why ondeck's feature \`$feature\` does not compile for Windows is missing"; return 1; }
    done
}
if [ -n "$check_only" ] && [ $# -eq 0 ]; then
    step "other crates, and features"
    status=0
    other_crates || status=$?
    note other-crates "$status"
fi

printf '\nsystems: passed %s, failed %s, skipped %s\n' ${#passed[@]} ${#failed[@]} ${#skipped[@]}
[ ${#passed[@]} -eq 0 ] || printf 'passed: %s\n' "${passed[*]}"
[ ${#skipped[@]} -eq 0 ] || printf 'skipped: %s\n' "${skipped[*]}"
[ ${#failed[@]} -eq 0 ] || { printf 'failed: %s\n' "${failed[*]}"; exit 1; }
[ ${#passed[@]} -gt 0 ] || exit 77
[ -z "$check_only" ] || [ ${#skipped[@]} -eq 0 ] || exit 77
