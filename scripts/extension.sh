#!/usr/bin/env bash
# Makes the table of docs/guide/new-data.md: whether new points are placed as surely as transform --std says.
#
#   scripts/extension.sh DATA_DIRECTORY    the directory that holds oil/data.csv
#
# Takes a few minutes: each line is thirty-six fits.
set -euo pipefail
cd "$(dirname "$0")/.."
data=${1:?name the directory of the data sets}
cargo build --release -q -p eigenfold --example extension
echo "| data | method | placing alone: within 1 | within 1.96 | within 1 | within 1.96 | standard deviation | error | maps apart |"
echo "|---|---|---|---|---|---|---|---|---|"
for set in swiss-roll:800:0:1 swiss-roll:800:0.4:1 s-curve:800:0.05:1 digits:600 "$data/oil/data.csv:600"; do
  target/release/examples/extension "$set"
done
