#!/usr/bin/env bash
# The page of `eigenfold compare`, tested in a browser: that its bundle is that of its sources, pages made for tests, a page that the
# program writes, whose inverse transform must agree with `eigenfold reconstruct`, and the page that it serves. Uses the program that cargo has
# built beside the tests.
# Installs what it needs: packages by npm, chromium by apt-get. Where that cannot be done, the tests are listed as skipped.
set -euo pipefail
cd "$(dirname "$0")/.."
target=${CARGO_TARGET_DIR:-target}
program=$(realpath "${EIGENFOLD_BUILD:-$target/debug}/eigenfold")

skip() {
    echo "$1: no test of the page was run"
    echo "test_page: $1" >>"${EIGENFOLD_SKIPPED:-/dev/null}"
    exit 0
}
command -v npm >/dev/null || skip "node and npm are not installed"
(cd web && { [ -e node_modules/.package-lock.json ] || npm ci --no-audit --no-fund --silent; }) || skip "npm could not install the packages of web/package.json"
if [ ! -x "${CHROMIUM:-/usr/bin/chromium}" ]; then
    { apt-get install -y -q chromium || { apt-get update -q && apt-get install -y -q chromium; }; } >/dev/null 2>&1 ||
        skip "chromium is not installed, and apt-get could not install it"
fi

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
(
    cd "$work"
    "$program" compare iris --methods isomap,pca,tsne --report report.html -q
    "$program" embed iris -m isomap -o map.csv --save iris.model -q
    printf 'y1,y2\n0,0\n1.5,-0.4\n-2,0.7\n4,3\n' >places.csv
    "$program" reconstruct iris.model places.csv -o rows.csv --std std.csv --interval intervals.csv --held-out none -q
)
PAGE=$work/report.html INVERSE=isomap MAP=$work/map.csv PLACES=$work/places.csv ROWS=$work/rows.csv STD=$work/std.csv \
    INTERVALS=$work/intervals.csv EIGENFOLD=$program bash web/check.sh
