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
beside=()

# However this ends, what runs in the background ends with it.
finish() {
    for group in "${beside[@]}"; do kill -- "-$group" 2>/dev/null || true; done
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

# Runs a function in the background, in a group of its own; what it says is shown in one component by `shown`.
start() {
    set -m
    "$1" >"$notes/$1" 2>&1 &
    beside+=($!)
    set +m
}
shown() {
    local code=0
    wait "${beside[$2]}" || code=$?
    cat "$notes/$1"
    if [ "$code" -ne 0 ]; then exit "$code"; fi
}

# In a profile of their own, since cargo does one thing at a time in each: the build leaves a processor idle for much of its time.
lints() {
    step cargo clippy --profile lints --workspace --lib --bins --tests --examples --all-features -- -D warnings
    step cargo check --profile lints --workspace --no-default-features # without optional features
    # No page says more with them, and what was just checked need not be checked again.
    RUSTDOCFLAGS="-D warnings" step cargo doc --profile lints --workspace --no-deps --no-default-features
}
# The tests of the library take as long as all other Rust tests together.
library() { programs $'^library\t'; }
others() { programs -v $'^library\t'; }
programs() {
    grep "$@" "$notes/programs" | while IFS=$'\t' read -r _ place program; do
        cd "$place"
        step "$program"
    done
}

step cargo fmt --all --check
step python3 scripts/layers.py
step bash scripts/pages.sh
start lints
# All at once: by several commands some of it would be built several times.
step cargo build --workspace --all-features --lib --tests --example unroll
# The programs of tests run side by side, so that no processor waits for the last test of one: its name, the directory to run it in, its file.
cargo test --workspace --all-features --tests --no-run --message-format json | python3 -c '
import json, os, sys
for line in sys.stdin:
    found = json.loads(line)
    if found.get("executable") and found["profile"]["test"]:
        print(found["target"]["name"], os.path.dirname(found["manifest_path"]), found["executable"], sep="\t")
' >"$notes/programs"
start library
start others
step "$target/debug/examples/unroll"
step bash scripts/page.sh
step bash scripts/python.sh
step cargo test --workspace --all-features --doc
shown lints 0
shown library 1
shown others 2

echo
if [ -s "$EIGENFOLD_SKIPPED" ]; then
    # One line for every file; a test may want several, or be one of those that run without them as well.
    echo "skipped $(cut -d: -f1 "$EIGENFOLD_SKIPPED" | sort -u | wc -l) tests, all or in part, that want data beside the project:"
    sort -u "$EIGENFOLD_SKIPPED" | sed 's/^/  /'
else
    echo "no test was skipped"
fi
echo "all checks passed"
