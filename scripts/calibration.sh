#!/usr/bin/env bash
# Makes the table of calibration in docs/reconstruct.md: eight data sets, six methods; rows are held out, placed and led back.
#
#   scripts/calibration.sh DATA_DIRECTORY    the directory that holds frey_faces/data.npy, oil/data.csv, segmentation/data.csv
#
# Takes about ten minutes on one processor.
set -euo pipefail
cd "$(dirname "$0")/.."
data=${1:?name the directory of the data sets}
cargo build --release -q -p eigenfold --example calibration
echo "| data | method | error of left-out rows | error held out | within deviation | within margin |"
echo "|---|---|---|---|---|---|"
for set in iris digits:600 "$data/oil/data.csv:600" "$data/frey_faces/data.npy:500" "$data/segmentation/data.csv:600" \
  swiss-roll:800:0:1 swiss-roll:800:0.4:1 s-curve:600:0:1; do
  target/release/examples/calibration "$set"
done
