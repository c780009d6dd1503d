#!/usr/bin/env bash
# Makes the table of docs/internals/measured-neighbors.md: what -k auto chooses on thirteen data sets with four methods, beside ten neighbors.
#
#   scripts/neighbors.sh DATA_DIRECTORY      the directory that holds coil20, isomap_faces_32x32, frey_faces, mnist, oil, letter,
#                                            segmentation, osu_run1, robot_wireless, animals_33x102 and optdigits
#
# Data with more than about 1,000 rows are thinned out evenly to that (COIL has all its 1,440). Takes about half an hour on one
# processor.
set -euo pipefail
cd "$(dirname "$0")/.."
data=${1:?name the directory of the data sets}
cargo build --release -q -p eigenfold --example auto_k
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/mnist" "$work/robot_wireless"
python3 -c "import sys, zipfile; z = zipfile.ZipFile(sys.argv[1]); sys.stdout.buffer.write(z.read(z.namelist()[0]))" \
  "$data/mnist/data.npz" > "$work/mnist/data.npy"
cut -d, -f2,3 "$data/robot_wireless/labels.csv" > "$work/robot_wireless/labels.csv"
echo "| data | method | k = 10 | auto | difference | k | components | best of all k |"
echo "|---|---|---|---|---|---|---|---|"
run() { target/release/examples/auto_k "$@"; }
run iris classes own
run digits:900 classes own
run "$data/optdigits/data.csv:1000" classes "$data/optdigits/labels.csv"
run "$work/mnist/data.npy:1000" classes "$data/mnist/labels.csv"
run "$data/coil20/data_32x32.npy" classes "$data/coil20/labels.csv"
run "$data/oil/data.csv" classes "$data/oil/labels.csv"
run "$data/segmentation/data.csv:1155" classes "$data/segmentation/labels.csv"
run "$data/letter/data.csv:1000" classes "$data/letter/labels.csv"
run "$data/isomap_faces_32x32/data.npy" values "$data/isomap_faces_32x32/labels.csv"
run "$data/robot_wireless/data.csv" values "$work/robot_wireless/labels.csv"
run "$data/frey_faces/data.npy:1000" none -
run "$data/osu_run1/data.csv" none -
run "$data/animals_33x102/data.csv" none -
