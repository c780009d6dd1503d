#!/usr/bin/env bash
# Everything that must hold before a change lands: format, lints, tests, doc tests, docs, examples.
set -euo pipefail
cd "$(dirname "$0")/.."

step() { printf '\n== %s\n' "$*"; "$@"; }

step cargo fmt --all --check
step python3 scripts/layers.py
step bash scripts/pages.sh
step cargo clippy --workspace --all-targets --all-features -- -D warnings
step cargo check -p eigenfold # the library alone, without optional features
step cargo test --workspace --all-features
RUSTDOCFLAGS="-D warnings" step cargo doc --workspace --no-deps --all-features
step cargo run --quiet -p eigenfold --example unroll
echo
echo "all checks passed"
