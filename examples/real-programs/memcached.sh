#!/usr/bin/env bash
# memcached with four threads under memcaslap. memccapable, of the same Debian package, checks the protocols.
# shellcheck source=lib.sh disable=SC2034
source "$(dirname "$0")/lib.sh"
program=memcached title='memcached, 4 threads' unit='operations a second' package=memcached
packages=(memcached libmemcached-tools)

start() {
    port=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
    local as=()
    [ "$(id -u)" -ne 0 ] || as=(-u nobody)
    serve server.log memcached "${as[@]}" -l 127.0.0.1 -p "$port" -U 0 -t 4 -m 64 -o hash_algorithm=xxh3
    until_ready memcping --servers="127.0.0.1:$port"
}

check() {
    start
    memccapable -h 127.0.0.1 -p "$port" >"$scratch/capable" || fail "memccapable: $(grep -v pass "$scratch/capable")"
    ok "memccapable: $(grep -c '\[pass\]' "$scratch/capable") tests of both protocols"
    python3 - "$port" "${quick:+yes}" <<'PYTHON'
import socket, sys, threading
port, rounds = int(sys.argv[1]), 100 if sys.argv[2] else 1000
errors = []
def client(number):
    try:
        with socket.create_connection(("127.0.0.1", port)) as s, s.makefile("rb") as lines:
            def ask(words):
                s.sendall(words)
                return lines.readline().rstrip()
            for turn in range(rounds):
                # Many at once, so that the server's threads are busy with the same item at the same time.
                s.sendall(b"incr counter 1\r\n" * 200)
                assert all(lines.readline().rstrip().isdigit() for _ in range(200))
                # One item that all threads replace, each time only if no other has done so in between.
                while True:
                    s.sendall(b"gets shared\r\n")
                    cas, value = lines.readline().split()[4], int(lines.readline())
                    assert lines.readline() == b"END\r\n"
                    text = str(value + 1).encode()
                    if ask(b"cas shared 0 0 %d %s\r\n%s\r\n" % (len(text), cas, text)) == b"STORED":
                        break
                key = b"own-%d-%d" % (number, turn % 50)
                assert ask(b"set %s 0 0 5\r\nvalue\r\n" % key) == b"STORED"
    except Exception as error:
        errors.append(error)
def read(words, key):
    with socket.create_connection(("127.0.0.1", port)) as s, s.makefile("rb") as lines:
        s.sendall(words)
        return lines.readline() if key is None else (lines.readline(), int(lines.readline()))[1]
for key in (b"counter", b"shared"):
    assert read(b"set %s 0 0 1\r\n0\r\n" % key, None) == b"STORED\r\n"
threads = [threading.Thread(target=client, args=(number,)) for number in range(8)]
for thread in threads: thread.start()
for thread in threads: thread.join()
if errors: raise errors[0]
for key, wanted in (b"counter", 8 * rounds * 200), (b"shared", 8 * rounds):
    value = read(b"get %s\r\n" % key, key)
    assert value == wanted, f"{key} is {value} and not {wanted}"
PYTHON
    ok "8 clients lose no incr and no cas"
    # More than the memory holds, so that items are thrown out and slabs move while clients read.
    memcaslap --servers="127.0.0.1:$port" --threads=2 --concurrency=16 --time="${seconds}s" --fixed_size=8192 \
        --verify=1.0 >"$scratch/load"
    grep -q '^TPS\|TPS:' "$scratch/load" || fail "memcaslap: $(tail -n 5 "$scratch/load")"
    ! grep -qi 'verify_failed: [1-9]' "$scratch/load" ||
        fail "memcaslap read wrong values: $(grep -i verify "$scratch/load")"
    ok "memcaslap, which compares what it reads, under a load that does not fit into the memory"
    stop
}

measure() {
    start
    memcaslap --servers="127.0.0.1:$port" --threads=2 --concurrency=16 --time="${seconds}s" --fixed_size=100 \
        >"$scratch/load"
    rate "$(sed -n 's/.* TPS: \([0-9]*\).*/\1/p' "$scratch/load")"
    stop
}

main "$@"
