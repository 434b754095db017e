#!/usr/bin/env bash
# Builds libondeck_preload.so into ${CARGO_TARGET_DIR:-target}/native/lib.
set -euo pipefail
exec "$(dirname "${BASH_SOURCE[0]}")/../ondeck-record/link.sh" preload
