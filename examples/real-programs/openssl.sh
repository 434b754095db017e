#!/usr/bin/env bash
# OpenSSL 3 under threads: programs/tls.c, whose threads share contexts, sessions and the library's own state.
# The library's own locks are pthread_rwlock_t, which the shim leaves to glibc. What is seen here is that both work in
# one program.
# shellcheck source=lib.sh disable=SC2034
source "$(dirname "$0")/lib.sh"
program=openssl title='OpenSSL 3, 8 threads' unit='TLS handshakes a second' package=libssl3
packages=(libssl-dev openssl gcc libc6-dev)

prepare() {
    gcc -std=c11 -O2 -Wall -Wextra -Werror -pthread -D_POSIX_C_SOURCE=200809L -o "$scratch/tls" "$here/programs/tls.c" \
        -lssl -lcrypto
    openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN=localhost \
        -keyout "$scratch/key.pem" -out "$scratch/certificate.pem" 2>/dev/null
}

tls() {
    "${prefix[@]}" "$scratch/tls" "$scratch/key.pem" "$scratch/certificate.pem" "$@"
}

check() {
    for threads in 2 8 64; do
        tls $threads "$seconds" >/dev/null
        ok "$threads threads: handshakes, resumed sessions, data, random numbers, digests"
    done
    "${prefix[@]}" openssl speed -seconds 1 -multi 2 -evp sha256 >/dev/null 2>&1
    ok "openssl speed -multi"
}

measure() {
    rate "$(tls 8 "$seconds")"
}

main "$@"
