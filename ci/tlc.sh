#!/usr/bin/env bash
# Checks every specification in spec/ with TLC: what must hold holds, and each mistake that was put in is found.
#
# The configurations of spec/NAME/MODULE.tla are in the same folder. Each says in its first lines what to expect:
#
#   \* Expect: pass, 12345 distinct states
#   \* Expect: violation of NAME           an invariant, a property, or "deadlock"
#   \* Hazard: what goes wrong, in a sentence
#   \* Large: 123 s                        left out unless asked for; the time it took
#   \* Options: ...                        for TLC
#
# If the number of states is not the one in the configuration, the check fails, because the model has changed.
#
#   ci/tlc.sh                    all but the large ones; 10 to 20 minutes on 2 CPUs
#   ci/tlc.sh --changed          of these, those that have changed since they were checked
#   ci/tlc.sh --quick            of these, without those that take long and have not changed
#   ci/tlc.sh --large            all
#   ci/tlc.sh mutex/two_locks    those named
#
# spec/checked.txt has a line for each configuration that was as expected: a hash of TLC, the modules and the
# configuration, its name, and the seconds that it took. The same input has the same result. So a change needs only
# what it has changed, and a quick check also runs what takes a few seconds, to see that TLC itself works. Every other
# check writes the lines of what it ran.
source "$(dirname "$0")/common.sh"

# The value of a configuration's header.
header() {
    sed -n "s/^\\\\\* $2: //p" "$1" | head -n 1
}

# All that the result of a configuration depends on.
hash() {
    { echo "$tlc_checksum"; cat "$(dirname "$1")"/*.tla "$1"; } | sha256sum | cut -d ' ' -f 1
}

# known CONFIGURATION SECONDS: whether it is the one that was checked, and took at least this long.
known() {
    awk -v hash="$(hash "$1")" -v least="$2" '$1 == hash && $3 >= least { found = 1 } END { exit !found }' spec/checked.txt
}

# Checks one configuration: prints a line for the reader.
check() {
    local configuration=$1 name expected result states options work start=$SECONDS
    name=${configuration#spec/} name=${name%.cfg}
    expected=$(header "$configuration" Expect)
    read -ra options <<<"$(header "$configuration" Options)"
    work=$folder/work/$name
    rm -rf "$work"
    mkdir -p "$work"
    (
        cd "$(dirname "$configuration")"
        # One thread each, because two run side by side and most take a second. Each has a temporary folder of its
        # own, into which TLC unpacks its modules, and which it deletes.
        java -Djava.io.tmpdir="$work" -XX:SharedArchiveFile="$archive" -XX:+UseSerialGC -Xmx5g -cp "$jar" tlc2.TLC -workers 1 -metadir "$work" "${options[@]}" \
            -config "$(basename "$configuration")" ./*.tla >"$work/out" 2>&1
    ) || true
    states=$(sed -n 's/^[0-9,]* states generated, \([0-9,]*\) distinct states found.*/\1/p' "$work/out" | tail -n 1)
    if grep -q '^Model checking completed. No error has been found' "$work/out"; then
        result="pass, ${states//,/} distinct states"
    elif grep -q '^Error: Deadlock reached' "$work/out"; then
        result="violation of deadlock"
    elif grep -q '^Error: Temporal properties were violated' "$work/out"; then
        result="violation of $(awk '/^PROPERT/ { on = 1; $1 = "" } on && $NF { print $NF; exit }' "$configuration")"
    else
        result="violation of $(sed -n 's/^Error: \(Invariant\|Action property\) \([A-Za-z]*\) is violated.*/\2/p' "$work/out")"
    fi
    if [ "$result" = "$expected" ]; then
        printf '%-44s %s (%s s)\n' "$name" "$result" $((SECONDS - start))
        echo "$(hash "$configuration") $name $((SECONDS - start))" >"$work/checked"
    else
        printf '%-44s %s, NOT %s (%s s)\n' "$name" "$result" "$expected" $((SECONDS - start))
        tail -n 40 "$work/out"
        return 1
    fi
}

# This script calls itself below with --one, to check two at a time.
if [ "${1:-}" = --one ]; then
    need_tlc
    check "$2"
    exit
fi

# An unchanged configuration is left out if its last check took at least this many seconds.
large=no known=
case ${1:-} in
    --large) large=yes; shift ;;
    --changed) known=0; shift ;;
    --quick) known=7; shift ;;
esac
if [ $# -gt 0 ]; then
    configurations=("${@/#/spec/}")
    configurations=("${configurations[@]/%/.cfg}")
    large=yes
else
    configurations=(spec/*/*.cfg)
fi

chosen=() unchanged=0
for configuration in "${configurations[@]}"; do
    [ -f "$configuration" ] || { echo "no configuration $configuration"; exit 2; }
    [ "$large" = yes ] || [ -z "$(header "$configuration" Large)" ] || continue
    if [ -n "$known" ] && known "$configuration" "$known"; then
        unchanged=$((unchanged + 1))
        continue
    fi
    chosen+=("$configuration")
done
if [ ${#chosen[@]} -eq 0 ]; then
    step "none of $unchanged configurations has changed since they were checked"
    exit
fi
need_tlc
rm -rf "$folder/work"
status=0
printf '%s\n' "${chosen[@]}" | xargs -P 2 -I{} bash ci/tlc.sh --one {} || status=1
if [ -z "$known" ]; then
    # The new lines replace the earlier ones of the same configurations. Lines of configurations that are gone go.
    find "$folder/work" -name checked -exec cat {} + | cat - spec/checked.txt |
        while read -r line_hash name seconds; do
            [ -f "spec/$name.cfg" ] && echo "$line_hash $name $seconds"
        done | awk '!seen[$2]++' | LC_ALL=C sort -k 2 >"$folder/checked.txt"
    mv "$folder/checked.txt" spec/checked.txt
fi
step "${#chosen[@]} configurations checked, $unchanged unchanged since they were"
exit "$status"
