#!/usr/bin/env bash
# The Python package, tested as it stands: the extension that cargo has built beside the other tests, in a virtual environment
# that this script makes in `target` and keeps. Arguments go to pytest; `--environment` makes environment and package and runs no test. EIGENFOLD_SKIPPED names a file for what was skipped.
set -euo pipefail
cd "$(dirname "$0")/.."
target=${CARGO_TARGET_DIR:-target}
wanted=crates/py/tests/requirements.txt
venv=$target/python-venv

if ! cmp -s "$wanted" "$venv/installed.txt"; then
    rm -rf "$venv"
    if ! { python3 -m venv "$venv" && "$venv/bin/pip" install -q --disable-pip-version-check -r "$wanted"; }; then
        rm -rf "$venv"
        echo "the packages of $wanted could not be installed: no test of the Python package was run"
        echo "test_python: packages that pip could not install" >>"${EIGENFOLD_SKIPPED:-/dev/null}"
        exit 0
    fi
    cp "$wanted" "$venv/installed.txt"
fi

# The package as a wheel would have it.
package=$target/python/eigenfold
rm -rf "$target/python"
mkdir -p "$target/python"
cp -R crates/py/python/eigenfold "$package"
build=$(realpath "${EIGENFOLD_BUILD:-$target/debug}")
export EIGENFOLD_PROGRAM=$build/eigenfold
library=$build/lib_eigenfold
if [ -f "$library.dylib" ]; then cp "$library.dylib" "$package/_eigenfold.abi3.so"; else cp "$library.so" "$package/_eigenfold.abi3.so"; fi

if [ "${1:-}" = --environment ]; then exit 0; fi

export PYTHONPATH=$PWD/$target/python PYTHONDONTWRITEBYTECODE=1
case $target in /*) PYTHONPATH=$target/python ;; esac
"$venv/bin/mypy" --no-error-summary --cache-dir "$target/mypy" --config-file pyproject.toml
"$venv/bin/python" -m pytest "$@"
