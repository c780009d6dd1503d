#!/usr/bin/env bash
# The pages, tested: every page with a Rust example is compiled, and the examples of pages run and print what the pages quote.
# Arguments name pages; without them all pages are run (two minutes).
#
# Uses the program and the Python extension that cargo has built (EIGENFOLD_BUILD) and the environment of scripts/python.sh.
set -euo pipefail
cd "$(dirname "$0")/.."
target=$(realpath -m "${CARGO_TARGET_DIR:-target}")

missing=0
for page in $(grep -rl '^```rust' --include='*.md' README.md CONTRIBUTING.md docs | sort); do
    if ! grep -q "\"$page\"" crates/core/src/lib.rs; then
        echo "the Rust examples of $page are not compiled; add the page to \`pages\` in crates/core/src/lib.rs"
        missing=1
    fi
done
if [ "$missing" -ne 0 ]; then exit 1; fi

build=$(realpath "${EIGENFOLD_BUILD:-$target/debug}")
bash scripts/python.sh --environment
if [ ! -x "$target/python-venv/bin/python" ]; then exit 0; fi # python.sh has listed it as skipped
PYTHONPATH=$target/python MPLBACKEND=Agg "$target/python-venv/bin/python" scripts/blocks.py --program "$build/eigenfold" "$@"
