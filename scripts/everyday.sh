#!/usr/bin/env bash
# Every method at its default settings on everyday data: builds the program, makes an environment with numpy, and writes
# docs/internals/everyday.md. More arguments go to scripts/everyday.py, as in: bash scripts/everyday.sh --limit 20
set -euo pipefail
cd "$(dirname "$0")/.."
cargo build --release -p eigenfold-cli
python=target/everyday-python
if [ ! -x "$python/bin/python" ]; then
    python3 -m venv "$python"
    "$python/bin/pip" install --quiet numpy
fi
"$python/bin/python" scripts/everyday.py target/release/eigenfold "$@"
