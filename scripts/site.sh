#!/usr/bin/env bash
# Builds the site of docs/ into target/site; open target/site/index.html. Warnings are errors.
#
#   bash scripts/site.sh              everything; the examples of the gallery are run
#   bash scripts/site.sh --quick      without running them
#
# The packages of docs/requirements.txt go into a virtual environment in `target`, which this script makes and keeps. The Python package is
# the one that cargo has built (EIGENFOLD_BUILD, else a release build). EIGENFOLD_DATA names the directory of data for examples that want them.
set -euo pipefail
cd "$(dirname "$0")/.."
target=$(realpath -m "${CARGO_TARGET_DIR:-target}")
venv=$target/site-venv
wanted=(crates/py/tests/requirements.txt docs/requirements.txt)

gallery=yes
if [ "${1:-}" = --quick ]; then gallery=no; fi

if ! cmp -s <(cat "${wanted[@]}") "$venv/installed.txt"; then
    rm -rf "$venv"
    if ! { python3 -m venv "$venv" && "$venv/bin/pip" install -q --disable-pip-version-check -r "${wanted[0]}" -r "${wanted[1]}"; }; then
        rm -rf "$venv"
        echo "the packages of ${wanted[*]} could not be installed: the site was not built"
        echo "test_site: packages that pip could not install" >>"${EIGENFOLD_SKIPPED:-/dev/null}"
        exit 0
    fi
    cat "${wanted[@]}" >"$venv/installed.txt"
fi

if [ -z "${EIGENFOLD_BUILD:-}" ]; then
    cargo build --release -p eigenfold-cli -p eigenfold-py
    EIGENFOLD_BUILD=$target/release
fi
package=$target/site-python
rm -rf "$package"
mkdir -p "$package"
cp -R crates/py/python/eigenfold "$package/"
library=$EIGENFOLD_BUILD/lib_eigenfold
if [ -f "$library.dylib" ]; then cp "$library.dylib" "$package/eigenfold/_eigenfold.abi3.so"; else cp "$library.so" "$package/eigenfold/_eigenfold.abi3.so"; fi

# What Sphinx generates beside the pages is made anew.
rm -rf docs/gallery docs/reference/generated
PYTHONPATH=$package PYTHONDONTWRITEBYTECODE=1 EIGENFOLD_GALLERY=$gallery MPLBACKEND=Agg \
    "$venv/bin/python" -m sphinx -E -W --keep-going -q -j auto -d "$target/site-doctrees" -b html docs "$target/site"
echo "the site is in $target/site"
