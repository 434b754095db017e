#!/usr/bin/env bash
# The Debian packages work in a clean root: they install with what they say that they depend on, a C program
# compiles against pkg-config's ondeck, and `ondeck run --profile` names the hot lock of a program, its file and its
# line; so does `ondeck attach`.
#
#   ci/package.sh            the command built as the tests are
#   ci/package.sh --release  as released; the compiler takes 5 minutes
#
# The root has Debian's minimum, gcc and pkg-config. It is made once, by mmdebstrap from the mirror that apt uses
# here, and kept in cargo's target folder; each run unpacks it anew. Needs root.
# shellcheck disable=SC2016 # what is given to `inside` expands there
source "$(dirname "$0")/common.sh"
[ "$(id -u)" -eq 0 ] || skip "needs root, for chroot"
need_packages mmdebstrap dpkg-dev binutils
export CARGO_TARGET_DIR=${CARGO_TARGET_DIR:-$PWD/target}
profile=dev
[ "${1:-}" != --release ] || profile=release

step "the help"
for option in --help -h; do
    grep -q -- '--prefix DIR' <<<"$(packaging/install.sh "$option")" || { echo "install.sh $option shows no options"; exit 1; }
done

step "packages"
packages=$CARGO_TARGET_DIR/packages
rm -f "$packages"/*.deb
packaging/deb.sh --out "$packages" --cargo-profile "$profile"

kept=$CARGO_TARGET_DIR/clean-root.tar
if [ ! -s "$kept" ]; then
    step "a clean root"
    # shellcheck source=/dev/null
    release=$(. /etc/os-release && echo "$VERSION_CODENAME")
    sources=/etc/apt/sources.list.d/debian.sources
    [ -s "$sources" ] || sources=/etc/apt/sources.list
    mmdebstrap --quiet --format=tar --variant=minbase --include=gcc,libc6-dev,pkg-config "$release" "$kept.new" "$sources"
    mv "$kept.new" "$kept"
fi

clean=$(mktemp -d)
# The mount goes first, so that nothing of this system is removed.
trap '{ ! mountpoint -q "$clean/proc" || umount "$clean/proc"; } && rm -rf --one-file-system "$clean"' EXIT
tar -xf "$kept" -C "$clean" --exclude=./dev
mkdir -p "$clean/dev" "$clean/try"
mknod -m 666 "$clean/dev/null" c 1 3
mount -t proc proc "$clean/proc"
cp "$packages"/*.deb ci/package/hot_lock.c locks/ondeck-capi/examples/bank.c "$clean/try"
inside() {
    chroot "$clean" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C.UTF-8 TERM=dumb sh -euc "cd /try; $*"
}

step "install"
# Whatever they depend on is either in the clean root, or in the packages.
inside 'dpkg -i ./*.deb >install.log 2>&1 || { cat install.log; exit 1; }'
inside 'ondeck --version; man=$(ls /usr/share/man/man1/ondeck*.1.gz | wc -l); test "$man" -ge 5'

step "a C program against pkg-config"
inside 'gcc -std=c11 -pthread -Wall -Wextra -Werror bank.c -o bank $(pkg-config --cflags --libs ondeck); ./bank'
inside 'gcc -std=c11 -pthread bank.c -o bank_static $(pkg-config --cflags ondeck) -Wl,-Bstatic $(pkg-config --static --libs ondeck) -Wl,-Bdynamic; ./bank_static'

step "a profile of a program with one hot lock"
inside 'gcc -g -O1 hot_lock.c -o hot_lock -pthread
ondeck run --profile hot.html --profile hot.jsonl -- ./hot_lock 2>table; cat table'
declared=$(grep -n '^pthread_mutex_t orders_lock' ci/package/hot_lock.c | cut -d: -f1)
# By the observer, which nothing but the package has brought there.
grep -q "observed as deployed" "$clean/try/table" || { cat "$clean/try/table"; exit 1; }
for report in table hot.html; do
    for word in orders_lock book_order "hot_lock.c:$declared"; do
        grep -qF "$word" "$clean/try/$report" || { echo "$report does not name $word"; exit 1; }
    done
    # No thread waits for that one.
    ! grep -q quiet_lock "$clean/try/$report" || { echo "$report blames quiet_lock"; exit 1; }
done
grep -q '"name":"orders_lock"' "$clean/try/hot.jsonl" || { echo "hot.jsonl is without it"; exit 1; }

step "a replay of the same program"
inside 'ondeck run --record hot.ondeck.json -- ./hot_lock 2>record || { cat record; exit 1; }
ondeck sim --replay hot.ondeck.json --threads 2,8 --html hot_replay.html | tee replay
grep -q "orders_lock 100 %" replay; test -s hot_replay.html'

step "the same with this project's locks, attached to, and compared with glibc"
inside 'ondeck run --lock ondeck --profile hot.html -- ./hot_lock 2>exchanged
grep -q "not as deployed" exchanged && grep -q "^orders_lock" exchanged || { cat exchanged; exit 1; }'
# Attached to as soon as it is there.
inside 'ondeck run -- ./hot_lock endless & program=$!
ondeck attach $program --for 500ms >table; kill $program
grep -q "^orders_lock" table || { cat table; exit 1; }
ondeck run --compare --runs 4 -- ./hot_lock 2>warnings'

step "remove"
inside 'dpkg -P ondeck libondeck-dev libondeck0 >/dev/null; test -z "$(find /usr -iname "*ondeck*")"'
echo "installed, tried and removed"
