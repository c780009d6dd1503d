#!/usr/bin/env bash
# Makes the table of docs/placing.md: whether new points are placed as surely as transform --std says. Takes a few minutes.
set -euo pipefail
cd "$(dirname "$0")/.."
cargo build --release -q -p eigenfold --example placing
echo "| data | method | within 1 | within 1.96 | among its neighbors, 1 | 1.96 | deviation | error | maps apart |"
echo "|---|---|---|---|---|---|---|---|---|"
for set in swiss-roll:800:0:1 swiss-roll:800:0.4:1 s-curve:800:0.05:1; do
  target/release/examples/placing "$set"
done
