#!/usr/bin/env bash
# MariaDB under sysbench, and under transfers between accounts whose sum must stay.
# shellcheck source=lib.sh disable=SC2034
source "$(dirname "$0")/lib.sh"
program=mariadb title='MariaDB, sysbench oltp_read_write' unit='transactions a second' package=mariadb-server-core
packages=(mariadb-server-core mariadb-client sysbench)

prepare() {
    mariadb-install-db --no-defaults --datadir="$scratch/db" --auth-root-authentication-method=normal --skip-test-db \
        --user="$(id -un)" --innodb-log-file-size=16M >"$scratch/install.log" 2>&1
}

start() {
    # The folder's path is short, and a socket's may have 107 bytes.
    serve server.log mariadbd --no-defaults --datadir="$scratch/db" --socket="$scratch/socket" --skip-networking \
        --pid-file="$scratch/pid" --user="$(id -un)" --innodb-buffer-pool-size=48M --innodb-log-file-size=16M \
        --innodb-flush-log-at-trx-commit=2 --tmpdir="$scratch" --thread-handling="${1:-one-thread-per-connection}"
    until_ready query 'select 1'
}

query() {
    mariadb --no-defaults --socket="$scratch/socket" --user=root --batch --skip-column-names --execute "$1"
}

sysbench_with() {
    "${client[@]}" sysbench oltp_read_write --db-driver=mysql --mysql-socket="$scratch/socket" --mysql-user=root \
        --mysql-db=bench --tables=2 --table-size=2000 --threads=8 --time="$seconds" \
        --mysql-ignore-errors=1213,1020,1205 "$@"
}

load() {
    query 'drop database if exists bench; create database bench'
    sysbench_with prepare >/dev/null
}

# Eight clients that move money between accounts, in either order, so that some end as deadlocks and are tried again.
transfers() {
    local count=1000 clients=() status=0
    [ -z "$quick" ] || count=200
    query "use bench; create table accounts (id int primary key, balance int not null) engine=innodb;
        insert into accounts select seq, 1000 from seq_1_to_10"
    mariadb --no-defaults --socket="$scratch/socket" --user=root bench <<'SQL'
delimiter //
create procedure transfers(in times int)
begin
    declare one int; declare other int; declare done int default 0;
    while done < times do
        set one = 1 + floor(rand() * 10), other = 1 + floor(rand() * 10);
        begin
            -- What a deadlock rolls back, the exit of this block leaves out as a whole.
            declare exit handler for 1213, 1205 begin rollback; set done = done - 1; end;
            start transaction;
            update accounts set balance = balance - 1 where id = one;
            update accounts set balance = balance + 1 where id = other;
            commit;
        end;
        set done = done + 1;
    end while;
end //
SQL
    for ((client = 0; client < 8; client++)); do
        query "call bench.transfers($count)" &
        clients+=($!)
    done
    for client in "${clients[@]}"; do
        wait "$client" || status=$?
    done
    [ $status -eq 0 ] || fail "a client of the transfers ended with status $status"
    query 'select sum(balance) from bench.accounts'
}

check() {
    for handling in one-thread-per-connection pool-of-threads; do
        start $handling
        load
        sysbench_with run >"$scratch/log" || fail "sysbench: $(tail -n 5 "$scratch/log")"
        for table in sbtest1 sbtest2; do
            [ "$(query "select count(*) from bench.$table")" = 2000 ] || fail "$table does not have 2,000 rows"
        done
        ok "$handling: sysbench: each table has its 2,000 rows after transactions that delete and insert"
        local sum
        sum=$(transfers)
        [ "$sum" = 10000 ] || fail "the accounts have $sum in all, and not 10000"
        ok "$handling: transfers of 8 clients keep the sum of all accounts"
        query 'check table bench.sbtest1, bench.sbtest2, bench.accounts extended' >"$scratch/log"
        [ "$(grep -c 'status.*OK' "$scratch/log")" = 3 ] || fail "CHECK TABLE: $(cat "$scratch/log")"
        ok "$handling: CHECK TABLE EXTENDED finds three tables sound"
        stop
    done
    grep -q 'Shutdown complete' "$scratch/server.log" ||
        fail "the server did not shut down: $(tail -n 5 "$scratch/server.log")"
    ok "the server shuts down in order"
}

measure() {
    start
    load
    sysbench_with run >"$scratch/log" || fail "sysbench: $(tail -n 5 "$scratch/log")"
    rate "$(sed -n 's/.*transactions:.*(\([0-9.]*\) per sec.*/\1/p' "$scratch/log")"
    stop
}

main "$@"
