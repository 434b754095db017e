#!/usr/bin/env bash
# PostgreSQL under pgbench, whose four balances must agree, and sysbench. Server and clients run with the side's locks.
# shellcheck source=lib.sh disable=SC2034
source "$(dirname "$0")/lib.sh"
program=postgresql title='PostgreSQL, sysbench oltp_read_write' unit='transactions a second' package=postgresql-15
bin=/usr/lib/postgresql/15/bin
packages=(postgresql-15 sysbench)

prepare() {
    # The server refuses to run as root.
    if [ "$(id -u)" -eq 0 ]; then
        user=(setpriv --reuid postgres --regid postgres --clear-groups)
        mkdir "$scratch/data"
        chown postgres: "$scratch/data"
    fi
    "${user[@]}" "$bin/initdb" -D "$scratch/data/db" -U postgres -A trust --no-sync --locale=C -E UTF8 >/dev/null
}

start() {
    [ "$(id -u)" -ne 0 ] || user=(setpriv --reuid postgres --regid postgres --clear-groups)
    rm -f "$scratch/data/db/postmaster.pid"
    serve server.log "$bin/postgres" -D "$scratch/data/db" -c listen_addresses= \
        -c unix_socket_directories="$scratch/data" -c shared_buffers=32MB -c fsync=off -c max_connections=60 \
        -c autovacuum_naptime=1s -c max_parallel_workers_per_gather=2
    until_ready query postgres 'select 1'
}

query() {
    "$bin/psql" -h "$scratch/data" -U postgres -d "$1" -Atq -v ON_ERROR_STOP=1 -c "$2"
}

sysbench_with() {
    "${client[@]}" sysbench oltp_read_write --db-driver=pgsql --pgsql-host="$scratch/data" --pgsql-user=postgres \
        --pgsql-db=bench --tables=2 --table-size=2000 --threads=8 --time="$seconds" "$@"
}

# Makes the database anew.
load() {
    query postgres 'drop database if exists bench' 2>/dev/null
    query postgres 'create database bench'
    sysbench_with prepare >/dev/null
}

check() {
    start
    load
    "${client[@]}" "$bin/pgbench" -h "$scratch/data" -U postgres -i -q bench 2>/dev/null
    "${client[@]}" "$bin/pgbench" -h "$scratch/data" -U postgres -n -c 8 -j 4 -T "$seconds" bench \
        >"$scratch/log" 2>&1 ||
        fail "pgbench: $(tail -n 5 "$scratch/log")"
    local done_by_client rows balances
    done_by_client=$(sed -n 's/^number of transactions actually processed: \([0-9]*\).*/\1/p' "$scratch/log")
    rows=$(query bench 'select count(*) from pgbench_history')
    [ "$rows" = "$done_by_client" ] || fail "the history has $rows transactions, the clients did $done_by_client"
    balances=$(query bench 'select count(distinct s) from (select sum(abalance) s from pgbench_accounts union all
        select sum(bbalance) from pgbench_branches union all select sum(tbalance) from pgbench_tellers union all
        select sum(delta) from pgbench_history) all_sums')
    [ "$balances" = 1 ] || fail "the balances differ"
    ok "pgbench: the server has every transaction of 8 clients, and the four balances agree"
    sysbench_with run >"$scratch/log" || fail "sysbench: $(tail -n 5 "$scratch/log")"
    for table in sbtest1 sbtest2; do
        [ "$(query bench "select count(*) from $table")" = 2000 ] || fail "$table does not have 2,000 rows"
    done
    ok "sysbench: each table has its 2,000 rows after transactions that delete and insert"
    "$bin/pg_amcheck" -h "$scratch/data" -U postgres -d bench --install-missing --heapallindexed --parent-check \
        >"$scratch/log" 2>&1 || fail "pg_amcheck: $(tail -n 5 "$scratch/log")"
    ok "pg_amcheck finds tables and indexes sound"
    [ "$(query bench 'set parallel_setup_cost = 0; set parallel_tuple_cost = 0; set min_parallel_table_scan_size = 0;
        select count(*) from pgbench_accounts a join pgbench_accounts b using (aid)')" = 100000 ] ||
        fail "a parallel join has not 100,000 rows"
    ok "a join by parallel workers"
    stop
}

measure() {
    start
    load
    sysbench_with run >"$scratch/log" || fail "sysbench: $(tail -n 5 "$scratch/log")"
    rate "$(sed -n 's/.*transactions:.*(\([0-9.]*\) per sec.*/\1/p' "$scratch/log")"
    stop
}

main "$@"
