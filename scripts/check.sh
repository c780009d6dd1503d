#!/usr/bin/env bash
# Everything that must hold before a change lands: format, tests, lints, doc tests, docs, examples, Python. At the end it names
# the tests that did not run because they want data beside the project.
set -euo pipefail
cd "$(dirname "$0")/.."

# All is built once: what would make a second build fast only slows this one down.
export CARGO_INCREMENTAL=0
target=${CARGO_TARGET_DIR:-target}
notes=$(mktemp -d)
export EIGENFOLD_SKIPPED=$notes/skipped
tests=

# However this ends, the tests in the background end with it.
finish() {
    if [ -n "$tests" ]; then kill -- "-$tests" 2>/dev/null || true; fi
    rm -rf "$notes"
}
trap finish EXIT
trap 'exit 1' INT TERM HUP

step() {
    local began=$SECONDS
    printf '\n== %s\n' "$*"
    "$@"
    echo "   ($((SECONDS - began)) s)"
}

step cargo fmt --all --check
step python3 scripts/layers.py
step bash scripts/pages.sh
# All at once: by several commands some of it would be built several times.
step cargo build --workspace --all-features --lib --tests --example unroll

# The Rust tests run in the background, in a group of their own, and the rest beside them, so that no processor waits for
# the last test of a program. What they say is shown in one piece when they end.
set -m
step cargo test --workspace --all-features --tests >"$notes/tests" 2>&1 &
tests=$!
set +m
# First the steps without cargo, which has to look through the build before it runs the tests.
step "$target/debug/examples/unroll"
step bash scripts/page.sh
step bash scripts/python.sh
step cargo clippy --workspace --all-targets --all-features -- -D warnings
step cargo check --workspace --no-default-features # without optional features
step cargo test --workspace --all-features --doc
RUSTDOCFLAGS="-D warnings" step cargo doc --workspace --no-deps --all-features
code=0
wait "$tests" || code=$?
tests=
cat "$notes/tests"
if [ "$code" -ne 0 ]; then exit "$code"; fi

echo
if [ -s "$EIGENFOLD_SKIPPED" ]; then
    # One line for every file; a test may want several, or be one of those that run without them as well.
    echo "skipped $(cut -d: -f1 "$EIGENFOLD_SKIPPED" | sort -u | wc -l) tests, all or in part, that want data beside the project:"
    sort -u "$EIGENFOLD_SKIPPED" | sed 's/^/  /'
else
    echo "no test was skipped"
fi
echo "all checks passed"
