#!/usr/bin/env bash
# Every page with a Rust example must be one of those whose examples are compiled (crates/core/src/lib.rs).
set -euo pipefail
cd "$(dirname "$0")/.."
missing=0
for page in $(grep -rl '^```rust' --include='*.md' README.md CONTRIBUTING.md docs | sort); do
    if ! grep -q "\"$page\"" crates/core/src/lib.rs; then
        echo "the Rust examples of $page are not compiled; add the page to \`pages\` in crates/core/src/lib.rs"
        missing=1
    fi
done
exit "$missing"
