#!/usr/bin/env bash
# Everything that must hold before a change lands: format, lints, tests, doc tests, docs, examples, Python. At the end it names
# the tests that did not run because they want data beside the project.
set -euo pipefail
cd "$(dirname "$0")/.."

# All is built once: what would make a second build fast only slows this one down.
export CARGO_INCREMENTAL=0

step() {
    local began=$SECONDS
    printf '\n== %s\n' "$*"
    "$@"
    echo "   ($((SECONDS - began)) s)"
}
skipped=$(mktemp)
trap 'rm -f "$skipped"' EXIT

step cargo fmt --all --check
step python3 scripts/layers.py
step bash scripts/pages.sh
step cargo clippy --workspace --all-targets --all-features -- -D warnings
step cargo check --workspace --no-default-features # without optional features
EIGENFOLD_SKIPPED=$skipped step cargo test --workspace --all-features --lib --bins --tests
step cargo test --workspace --all-features --doc
RUSTDOCFLAGS="-D warnings" step cargo doc --workspace --no-deps --all-features
# Not by `cargo run` of one package, which would build its dependencies again, with other features.
step cargo build --workspace --all-features --lib --example unroll
step "${CARGO_TARGET_DIR:-target}/debug/examples/unroll"
EIGENFOLD_SKIPPED=$skipped step bash scripts/python.sh
echo
if [ -s "$skipped" ]; then
    # One line for every file; a test may want several, or be one of those that run without them as well.
    echo "skipped $(cut -d: -f1 "$skipped" | sort -u | wc -l) tests, all or in part, that want data beside the project:"
    sort -u "$skipped" | sed 's/^/  /'
else
    echo "no test was skipped"
fi
echo "all checks passed"
