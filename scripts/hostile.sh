#!/usr/bin/env bash
# Every method on many small sets of hostile data: heavy tails, columns of other scales, copies, lines, narrow clusters.
# usage: hostile.sh [sets, 1000] [first set, 0] [method]; prints the slowest fits, and fails with the sets that broke one.
set -euo pipefail
cd "$(dirname "$0")/.."
export EIGENFOLD_TRIALS=${1:-1000} EIGENFOLD_FIRST=${2:-0}
if [ $# -ge 3 ]; then export EIGENFOLD_METHOD=$3; fi
cargo test -p eigenfold --test library -- --ignored --nocapture no_method_breaks_on_much_hostile_data
