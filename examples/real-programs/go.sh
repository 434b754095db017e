#!/usr/bin/env bash
# Go: programs/threads.go, whose goroutines call C functions that lock and wait. A program without C is static, and the
# shim has nothing to do with it.
# shellcheck source=lib.sh disable=SC2034
source "$(dirname "$0")/lib.sh"
program=go title='Go 1.19 with cgo' unit='turns of a condition variable a second' package=golang-1.19-go
packages=(golang-1.19-go gcc libc6-dev)

prepare() {
    local cache=${XDG_CACHE_HOME:-${HOME:-$scratch}/.cache}/ondeck-real-programs
    # Kept, because the first build of the runtime with C takes half a minute.
    GOCACHE=$cache GOPATH=$scratch/go GOFLAGS=-mod=mod CGO_ENABLED=1 GO111MODULE=off \
        /usr/lib/go-1.19/bin/go build -o "$scratch/threads" "$here/programs/threads.go"
}

check() {
    local part=10
    [ -z "$quick" ] || part=2
    for processors in 1 2 8; do
        GOMAXPROCS=$processors "${prefix[@]}" "$scratch/threads" check $part
        ok "GOMAXPROCS=$processors: locks and condition variables in C, calls back into Go, threads that end, channels"
    done
}

measure() {
    rate "$("${prefix[@]}" "$scratch/threads" rate "$seconds")"
}

main "$@"
