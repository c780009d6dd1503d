#!/usr/bin/env bash
# The long run of what the tests do in short: mutated files and models in a process whose memory is capped, then faults of
# system calls and signals (scripts/faults.sh), then licenses and advisories if cargo-deny is installed.
# usage: scripts/fuzz.sh [SECONDS for each target, 600] [SEED]
set -euo pipefail
cd "$(dirname "$0")/.."
export EIGENFOLD_FUZZ_SECONDS=${1:-600} EIGENFOLD_FUZZ_SEED=${2:-$RANDOM}
echo "seed $EIGENFOLD_FUZZ_SEED, $EIGENFOLD_FUZZ_SECONDS s for each target"
program=$(cargo test -p eigenfold --all-features --test library --no-run 2>&1 | sed -n 's/.*(\(.*library-[0-9a-f]*\)).*/\1/p')
program=$(realpath "$program")
# Files in memory, where there is a place for them: on a disk most of the time is spent waiting for it.
if [ -d /dev/shm ]; then
    TMPDIR=$(mktemp -d /dev/shm/eigenfold-fuzz-XXXXXX)
    export TMPDIR
    trap 'rm -rf "$TMPDIR"' EXIT
fi
TIMEFORMAT="fuzz: %U s of user time, %S s of system time"
# Panics inside the Parquet library are caught and end as errors; what they print is of no use here.
time (cd crates/core && ulimit -v 4000000 && RUST_BACKTRACE=0 "$program" fuzz::mutated model_tampered::mutated --nocapture 2>&1 |
    grep -E "^fuzz:|EIGENFOLD_FUZZ_SEED|memory allocation|overflow|test result")
bash scripts/faults.sh
if command -v cargo-deny >/dev/null; then
    cargo deny --offline check licenses bans sources
    cargo deny check advisories || echo "advisories need the network once"
else
    echo "cargo-deny is not installed: licenses and advisories were not checked"
fi
