#!/usr/bin/env bash
# Everything that must hold before a change lands: format, lints, tests, doc tests, docs, examples, Python, the page.
# Tests whose data are not beside the project are shown as ignored.
set -euo pipefail
cd "$(dirname "$0")/.."

target=${CARGO_TARGET_DIR:-target}
notes=$(mktemp -d)
export EIGENFOLD_SKIPPED=$notes/skipped EIGENFOLD_BUILD=$target/checks
background=()

# However this ends, what runs in the background ends with it.
finish() {
    for group in "${background[@]}"; do kill -- "-$group" 2>/dev/null || true; done
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

# Runs a function in the background, in a process group of its own; `shown` prints its output when it has ended.
start() {
    set -m
    "$1" >"$notes/$1" 2>&1 &
    background+=($!)
    set +m
}
shown() {
    local code=0
    wait "${background[$2]}" || code=$?
    cat "$notes/$1"
    if [ "$code" -ne 0 ]; then exit "$code"; fi
}

# In a profile of their own, since cargo does one thing at a time in each: the build leaves a core idle for much of its time.
lints() {
    step cargo clippy --profile lints --workspace --all-targets --all-features -- -D warnings
    step cargo check --profile lints --workspace --no-default-features # without optional features
    RUSTDOCFLAGS="-D warnings" step cargo doc --profile lints --workspace --no-deps --no-default-features
    step python3 scripts/api.py --check # the public names of the library
}
tests() {
    step cargo test --profile checks --workspace --all-features --tests
}

step cargo fmt --all --check
step python3 scripts/files.py --check
start lints
# All at once: by several commands some of it would be built several times.
step cargo build --profile checks --workspace --all-features --lib --bins --tests --example unroll
start tests
step "$target/checks/examples/unroll"
step bash scripts/page.sh
step bash scripts/python.sh
step bash scripts/spark.sh
step bash scripts/pages.sh
step bash scripts/site.sh --quick
shown lints 0
shown tests 1
step cargo test --profile checks --workspace --all-features --doc

if [ -s "$EIGENFOLD_SKIPPED" ]; then
    echo
    echo "skipped for want of packages:"
    sort -u "$EIGENFOLD_SKIPPED" | sed 's/^/  /'
fi
echo
echo "all checks passed"
