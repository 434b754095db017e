#!/usr/bin/env bash
# `ondeck who` names the lock, the keeper and the function in programs that the tests of crates do not build: in C++, in Go,
# with musl, with abseil, with the preloaded shim or observer. Names are those of the file that runs, or the report says why there
# are none: of a deleted plug-in, in another mount namespace, of code made at run time, of a stripped program with a folder
# of symbols.
source "$(dirname "$0")/common.sh"
need_packages gcc g++ binutils libc6-dev libabsl-dev musl-tools python3 util-linux
command -v go >/dev/null || need_packages golang-go
programs=$PWD/tools/ondeck-profile/tests/programs
target=${CARGO_TARGET_DIR:-target}

step "build"
locks/ondeck-preload/link.sh
tools/ondeck-observe/link.sh
cargo build --locked -q -p ondeck-cli
shim=$(realpath "$target/native/lib/libondeck_preload.so")
observer=$(realpath "$target/native/lib/libondeck_observe.so")
ondeck=$(realpath "$target/debug/ondeck")
folder=$(mktemp -d)
program=
# Ends the program of the last step.
end() {
    [ -z "$program" ] || kill "$program" 2>/dev/null || true
    [ -z "$program" ] || wait "$program" 2>/dev/null || true
    program=
}
trap 'end; rm -rf "$folder"' EXIT
cd "$folder"

# start COMMAND...: runs it until the next step, from when it says that it is ready.
start() {
    end
    step "$*"
    : >ready
    "$@" >ready &
    program=$!
    local tries
    for ((tries = 0; tries < 600; tries++)); do
        grep -q ready ready && return
        kill -0 "$program" 2>/dev/null || { echo "$1 has ended"; exit 1; }
        sleep 0.1
    done
    echo "$1 is not ready"
    exit 1
}
# shows OPTIONS PATTERN...: some text of `ondeck who`, on one line after the other, has all patterns.
shows() {
    local tries pattern text=
    for ((tries = 0; tries < 10; tries++)); do
        # 3 is a deadlock.
        # shellcheck disable=SC2086 # several options
        text=$("$ondeck" who "$program" $1) || [ $? -eq 3 ]
        for pattern in "${@:2}"; do
            grep -Pzq -- "$pattern" <<<"$text" || continue 2
        done
        return
    done
    echo "$text"
    echo "lacks: $pattern"
    exit 1
}

g++ -g -O1 -pthread "$programs/waits.cpp" -o cpp
start ./cpp
shows "" 'DEADLOCK: 2 threads[^\n]*\n[^\n]*\n *at lock_both \(waits.cpp:\d+\)' \
    'pthread mutex 0x[^\n]*heap\n  kept by[^\n]*LruCache<…>::get_or \(waits.cpp:\d+\)[^\n]*\n[^\n]*LruCache<…>::get_or' \
    'pthread condition variable[^\n]*waits.cpp'

musl-gcc -g -O2 -static "$programs/waits.c" -o musl
start ./musl
shows "" 'error_lock[^\n]*\n  kept by[^\n]*refresh_orders' 'orders_lock[^\n]*\n  unknown keeper[^\n]*\n  perhaps by [^\n]*refresh_orders[^\n]*\n[^\n]*take_orders \(waits.c:\d+\)' \
    'index_lock[^\n]*\n  kept by 1 reader'

g++ -g -O2 -pthread "$programs/waits-absl.cpp" -o absl -labsl_synchronization
start ./absl
shows "" 'absl::Mutex[^\n]*\n  unknown keeper[^\n]*\n[^\n]*take_hot \(waits-absl.cpp:\d+\)'

CGO_ENABLED=0 go build -o go "$programs/waits.go"
start ./go
shows "" 'none waits for a lock; 4 goroutines wait for locks\n' 'waits for work or a timer[^\n]*runtime.notesleep' 'epoll' \
    'sync.Mutex main.orders, go\n  unknown keeper[^\n]*\n  perhaps by goroutine 1,[^\n]*main.main \(waits.go:\d+\)\n  goroutine \d+, goroutine \d+, goroutine \d+ wait: main.takeOrders \(waits.go:\d+\)' \
    'sync.RWMutex 0x[^\n]*\n  unknown keeper[^\n]*\n  perhaps by goroutine \d+,[^\n]*main.\(\*table\).refresh \(waits.go:\d+\)[^\n]*\n  goroutine \d+ waits: main.\(\*table\).get \(waits.go'
CGO_ENABLED=0 go build -ldflags=-w -o go-w "$programs/waits.go"
start ./go-w
shows "" 'goroutine \d+, goroutine \d+, goroutine \d+ wait: main.takeOrders' 'goroutine \d+ waits: main.\(\*table\).get'
CGO_ENABLED=0 go build -ldflags=-s -o go-s "$programs/waits.go"
start ./go-s
shows "" 'goroutines are not seen: the program was built or stripped without symbols'

start python3 -c 'import threading; lock = threading.Lock(); lock.acquire(); print("ready", flush=True); lock.acquire()'
shows "" "py-spy dump --pid $program"

gcc -g -O2 -pthread "$programs/waits.c" -o c
start env LD_PRELOAD="$shim" ./c
shows "" 'pthread mutex orders_lock[^\n]*\n  unknown keeper[^\n]*\n(  perhaps [^\n]*\n)*[^\n]*take_orders' 'semaphore tickets' 'index_lock|write_index'
start env LD_PRELOAD="$observer" ./c
shows "" 'orders_lock[^\n]*\n  kept by[^\n]*refresh_orders' 'index_lock[^\n]*\n  kept by 1 reader'

objcopy --only-keep-debug c c.debug
strip c -o bare
id=$(readelf -n c | awk '/Build ID/ { print $3 }')
mkdir -p "symbols/.build-id/${id:0:2}"
cp c.debug "symbols/.build-id/${id:0:2}/${id:2}.debug"
start ./bare
shows "" 'kept by[^\n]*bare\+0x'
shows "--symbols symbols" 'pthread mutex orders_lock, waits.c:\d+\n  kept by[^\n]*refresh_orders \(waits.c:\d+\)'

step "recorded, with a folder of symbols"
gcc -g -O1 -pthread "$programs/hot.c" -o hot
objcopy --only-keep-debug hot hot.debug
strip hot -o lean
id=$(readelf -n hot | awk '/Build ID/ { print $3 }')
mkdir -p "symbols/.build-id/${id:0:2}"
cp hot.debug "symbols/.build-id/${id:0:2}/${id:2}.debug"
ONDECK_OBSERVE_LIBRARY=$observer "$ondeck" run --profile p.jsonl --symbols symbols -- ./lean 100 2>table
grep -q 'kept others waiting.*(hot.c:' table || { cat table; exit 1; }

# Another file has the path: outside of the mount namespace, or since the program has begun.
gcc -g -O1 -DOTHER -pthread -x c - -o other <<<'int main(void) { return 0; }'
mkdir -p in out
cp c in/server
cp other out/server
if unshare -m true 2>/dev/null; then
    start unshare -m sh -c "mount --bind $PWD/in $PWD/out && exec out/server"
    shows "" 'kept by[^\n]*refresh_orders \(waits.c:\d+\)'
else
    echo "no mount namespaces here"
fi

gcc -g -O1 -fPIC -shared -pthread "$programs/plugin.c" -o plugin.so
gcc -g -O1 "$programs/host.c" -o host -ldl -pthread
start ./host ./plugin.so
# The kernel lends a deleted file to privileged users only.
shows "" 'pthread mutex plugin_lock|no names of [^\n]*copy.so: it was deleted[^\n]*build-id [0-9a-f]{20}'
shows "--symbols $PWD" 'pthread mutex plugin_lock' 'kept by[^\n]*keep_plugin \(plugin.c:\d+\)'

gcc -g -O1 -fno-omit-frame-pointer "$programs/jit.c" -o jit -pthread
start ./jit
shows "" 'pthread mutex jit_lock[^\n]*\n  kept by[^\n]*jit_order' 'waits[^\n]*jit_order < interpreter'
rm -f "/tmp/perf-$program.map"
