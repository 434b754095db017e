/*
 * ondeck: a mutex of one byte that does not collapse under contention, and its condition variable.
 * docs/c.md of the project is the manual.
 *
 * Written by cbindgen from the source in Rust; the inlined functions at the end are written by
 * hand. Do not edit: ONDECK_WRITE_HEADER=1 cargo test -p ondeck-capi --test header
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
