# shellcheck shell=bash
# Sourced by the scripts here: strict mode, the project's root as the working directory, and the options.
set -euo pipefail
script=$(realpath "$0")
cd "$(dirname "${BASH_SOURCE[0]}")/.."
export CARGO_TARGET_DIR=${CARGO_TARGET_DIR:-$PWD/target}

# options NAMES ARGUMENT...: sets the variable NAME for each `--NAME VALUE`, `cargo_profile` for `--cargo-profile`. --help
# prints the head of the script.
options() {
    local names=$1 name
    shift
    while [ $# -gt 0 ]; do
        case $1 in
            # Without the first line.
            -h | --help) sed -n '2,/^[^#]/{/^[^#]/!s/^# \{0,1\}//p;}' "$script"; exit 0 ;;
        esac
        name=${1#--}
        [[ $1 == --* && " $names " == *" $name "* ]] || { echo "unknown option $1; the head of $script has all" >&2; exit 2; }
        [ $# -gt 1 ] || { echo "$1 needs a value; the head of $script says which" >&2; exit 2; }
        printf -v "${name//-/_}" '%s' "$2"
        shift 2
    done
}
