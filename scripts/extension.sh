#!/usr/bin/env bash
# Makes the table of new data in docs/internals/calibration.md: the coverage of the standard deviations of transform --std.
#
#   scripts/extension.sh DATA_DIRECTORY    the directory that holds oil/data.csv
#
# Takes a few minutes: each line is thirty-six fits.
set -euo pipefail
cd "$(dirname "$0")/.."
data=${1:?name the directory of the data sets}
cargo build --release -q -p eigenfold --example extension
echo "| data | method | placement alone: within 1 SD | within 1.96 SD | total: within 1 SD | within 1.96 SD | SD | error | maps apart |"
echo "|---|---|---|---|---|---|---|---|---|"
for set in swiss-roll:800:0:1 swiss-roll:800:0.4:1 s-curve:800:0.05:1 digits:600 "$data/oil/data.csv:600"; do
  target/release/examples/extension "$set"
done
