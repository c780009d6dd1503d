#!/usr/bin/env bash
# Writes the table of parameters into the page of every method, between its two marks.
set -euo pipefail
cd "$(dirname "$0")/.."

cargo build --quiet -p eigenfold-cli
program=${CARGO_TARGET_DIR:-target}/debug/eigenfold
for name in $("$program" methods | awk '/^  [a-z]/ { print $1 }'); do
    page=docs/methods/$name.md
    "$program" methods "$name" --markdown > "$page.table"
    awk -v table="$page.table" '
        /^<!-- parameters -->/ { print; while ((getline line < table) > 0) print line; skip = 1; next }
        /^<!-- \/parameters -->/ { skip = 0 }
        !skip' "$page" > "$page.new"
    mv "$page.new" "$page"
    rm "$page.table"
done
