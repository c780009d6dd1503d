#!/usr/bin/env bash
# Makes the tables of the inverse transform in docs/internals/calibration.md: rows are set aside, the map and its intervals are made of the others, and
# the rows set aside are embedded, reconstructed and counted. First eight data sets and six methods, then others that had no part in
# how the intervals are made.
#
#   scripts/calibration.sh DATA_DIRECTORY    the directory that holds frey_faces/data.npy, oil/data.csv, segmentation/data.csv
#                                            and robot_wireless/data.csv
#
# Takes about a quarter of an hour on one core: each line is thirty fits.
set -euo pipefail
cd "$(dirname "$0")/.."
data=${1:?name the directory of the data sets}
cargo build --release -q -p eigenfold --example calibration
title() {
  echo "| data | method | error of left-out rows | error held out | seen: within SD | seen: within 95 % | within SD | within 95 % | standard error | exact | all: within SD | all: within 95 % |"
  echo "|---|---|---|---|---|---|---|---|---|---|---|---|"
}
title
target/release/examples/calibration iris --repeats 10
for set in digits:600 "$data/oil/data.csv:600" "$data/frey_faces/data.npy:500" "$data/segmentation/data.csv:600" \
  swiss-roll:800:0:1 swiss-roll:800:0.4:1 s-curve:600:0:1; do
  target/release/examples/calibration "$set"
done
echo
title
for set in s-curve:600:0:7 swiss-roll:800:0:9 "$data/robot_wireless/data.csv" twin-peaks:500:0:5; do
  target/release/examples/calibration "$set" isomap laplacian-eigenmaps ltsa meu
done
