#!/usr/bin/env bash
# Redis (or valkey, where Debian has it) with threads for input and output, under redis-benchmark.
# shellcheck source=lib.sh disable=SC2034
source "$(dirname "$0")/lib.sh"
program=redis title='Redis with io-threads' unit='SET requests a second'
package=redis-tools name=redis
if packaged valkey-tools; then package=valkey-tools name=valkey; fi
# The package of the tools contains the server's program under another name; the server's package only adds a service.
packages=("$package")

socket() {
    echo "$scratch/$side.sock"
}

cli() {
    "$name-cli" -s "$(socket)" "$@"
}

# Threads for input and output spin. More of them than there are CPUs for keep the main thread from its CPU.
io_threads=$(($(nproc) < 5 ? 2 : 4))

start() {
    rm -f "$(socket)"
    mkdir -p "$scratch/data.$side"
    # It is the server unless its name is that of the tool.
    ln -sf "$(command -v "$name-check-rdb")" "$scratch/$name-server"
    serve server.log "$scratch/$name-server" --port 0 --unixsocket "$(socket)" --io-threads $io_threads \
        --io-threads-do-reads yes --save '' --dir "$scratch/data.$side" --enable-debug-command local
    until_ready cli ping
}

check() {
    start
    python3 - "$(socket)" "${quick:+yes}" <<'PYTHON'
import socket, sys, threading
path, quick = sys.argv[1], sys.argv[2]
rounds = 100 if quick else 500
replies, lock = [], threading.Lock()
def client():
    own = []
    with socket.socket(socket.AF_UNIX) as s, s.makefile("rb") as lines:
        s.connect(path)
        for _ in range(rounds):
            s.sendall(b"INCR counter\r\n" * 20)
            own += [int(lines.readline()[1:]) for _ in range(20)]
    assert own == sorted(own), "a client's replies are out of order"
    with lock:
        replies.extend(own)
threads = [threading.Thread(target=client) for _ in range(16)]
for thread in threads: thread.start()
for thread in threads: thread.join()
assert sorted(replies) == list(range(1, 16 * rounds * 20 + 1)), "a reply is missing or came twice"
PYTHON
    ok "16 clients that increment one counter get each value once, and each of them in order"
    local before after
    "$name-benchmark" -s "$(socket)" -q -n 20000 -r 5000 -c 16 -P 8 --threads 2 -t set,lpush,sadd,hset,zadd >/dev/null
    before=$(cli debug digest)
    cli debug reload >/dev/null
    after=$(cli debug digest)
    [ "$before" = "$after" ] || fail "the data has digest $before, and $after after it was saved and loaded"
    ok "data that is saved and loaded has the same digest"
    cli bgsave >/dev/null
    until cli info persistence | grep -q '^rdb_bgsave_in_progress:0'; do sleep 0.1; done
    cli info persistence | grep -q '^rdb_last_bgsave_status:ok' || fail "a child of fork did not save the data"
    "$name-check-rdb" "$scratch/data.$side/dump.rdb" | grep -q 'RDB looks OK' || fail "the saved data is damaged"
    ok "data that a child of fork saves passes $name-check-rdb"
    cli flushall async >/dev/null
    until cli info memory | grep -q '^lazyfree_pending_objects:0'; do sleep 0.1; done
    [ "$(cli dbsize)" = 0 ] || fail "keys are left"
    ok "a background thread frees the data"
    stop
}

measure() {
    start
    rate "$("$name-benchmark" -s "$(socket)" --csv -n $((40000 * seconds)) -r 10000 -c 32 -P 16 --threads 2 -t set |
        tail -n 1 | cut -d, -f2 | tr -d '"')"
    stop
}

main "$@"
