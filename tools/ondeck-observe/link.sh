#!/usr/bin/env bash
# Builds libondeck_observe.so into ${CARGO_TARGET_DIR:-target}/native/lib.
set -euo pipefail
# No tail call may take the place of a frame that the recorder looks for.
exec "$(dirname "${BASH_SOURCE[0]}")/../../locks/ondeck-record/link.sh" observe -fno-optimize-sibling-calls -ftls-model=initial-exec
