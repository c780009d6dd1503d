#!/usr/bin/env bash
# Everything that must hold for the page: types, a bundle that is not stale, the tests with and without a browser.
#   PAGE=report.html web/check.sh      tests a page of the program too
#   INVERSE=isomap MAP=map.csv PLACES=places.csv ROWS=rows.csv STD=deviations.csv INTERVALS=intervals.csv compare its inverse transform with
#   what `eigenfold reconstruct` wrote for these places of the map that `eigenfold embed` made (the page may have turned it)
#   EIGENFOLD=target/release/eigenfold web/check.sh     tests the served page with the program
# Needs node 20 and chromium (CHROMIUM=path, /usr/bin/chromium if not given).
set -euo pipefail
page=${PAGE:+$(realpath "$PAGE")}
if [ -n "${EIGENFOLD:-}" ]; then export EIGENFOLD; EIGENFOLD=$(realpath "$EIGENFOLD"); fi
for name in MAP PLACES ROWS STD INTERVALS; do
    if [ -n "${!name:-}" ]; then export "$name=$(realpath "${!name}")"; fi
done
cd "$(dirname "$0")"

if [ ! -e node_modules/.package-lock.json ] || [ package-lock.json -nt node_modules/.package-lock.json ]; then npm ci --no-audit --no-fund; fi
if grep -nE 'https?://' package-lock.json; then
    echo "package-lock.json names a host; install with the .npmrc that is here" >&2
    exit 1
fi
node_modules/.bin/tsc --noEmit

fresh=$(mktemp -d)
trap 'rm -rf "$fresh"' EXIT
node build.mjs "$fresh"
for name in page.js page.css page.html; do
    if ! cmp -s "$fresh/$name" "../crates/page/assets/$name"; then
        echo "crates/page/assets/$name is not what the sources give; run node web/build.mjs and commit it" >&2
        exit 1
    fi
done

# The pages for tests take some seconds to make, so they are kept until their makers change.
mkdir -p out
maker=$(cat fixtures.mjs fixtures/*.mjs | sha256sum)
if [ -e out/table.html ] && [ "$(cat out/maker 2>/dev/null)" = "$maker" ]; then
    node reuse.mjs out/small.html out/table.html
else
    node fixtures.mjs out small table
    echo "$maker" >out/maker
fi
PAGES="$PWD/out" PAGE="$page" node --test --test-concurrency=1 test/*.test.mjs
echo "the page passed all checks"
