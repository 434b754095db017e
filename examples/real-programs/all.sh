#!/usr/bin/env bash
# Runs the scripts of this folder one after the other with the options given (see redis.sh --help), and says which of
# them failed. A script that lacks something is skipped.
set -euo pipefail
cd "$(dirname "$0")"
failed=() skipped=() child=''
trap '[ -z "$child" ] || { kill -TERM "$child"; wait "$child" || true; }; exit 130' INT TERM
for script in *.sh; do
    case $script in all.sh | lib.sh) continue ;; esac
    printf '\n== %s\n' "${script%.sh}"
    status=0
    "./$script" "$@" &
    child=$!
    wait "$child" || status=$?
    child=''
    case $status in
        0) ;;
        2 | 130) exit $status ;;
        77) skipped+=("${script%.sh}") ;;
        *) failed+=("${script%.sh}") ;;
    esac
done
printf '\nfailed: %s\nskipped: %s\n' "${failed[*]:-none}" "${skipped[*]:-none}"
[ ${#failed[@]} -eq 0 ]
