#!/usr/bin/env bash
# Makes the tables of docs/internals/maps.md: how good the maps of some methods are, on thirteen data sets.
#
#   scripts/maps.sh DATA_DIRECTORY METHOD...     the directory is that of scripts/neighbors.sh; methods as in the example `maps`
#
#   scripts/maps.sh data le,bandwidth=global le,bandwidth=local dm,bandwidth=global dm,bandwidth=local
#   scripts/maps.sh data isomap isomap,components=separate laplacian-eigenmaps umap tsne
#
# MNIST and letter are thinned out evenly to 5,000 rows. MAPS names the built example, if it is not to be built here.
set -euo pipefail
cd "$(dirname "$0")/.."
data=${1:?name the directory of the data sets}
shift
maps=${MAPS:-target/release/examples/maps}
[ -n "${MAPS:-}" ] || cargo build --release -q -p eigenfold --example maps
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/mnist" "$work/robot_wireless"
python3 -c "import sys, zipfile; z = zipfile.ZipFile(sys.argv[1]); sys.stdout.buffer.write(z.read(z.namelist()[0]))" \
  "$data/mnist/data.npz" > "$work/mnist/data.npy"
cut -d, -f2,3 "$data/robot_wireless/labels.csv" > "$work/robot_wireless/labels.csv"
echo "| data | rows | method | truth | trust | neighbor ratio | components | seconds | |"
echo "|---|---|---|---|---|---|---|---|---|"
run() { "$maps" "$@" "${methods[@]}"; }
methods=("$@")
run iris classes own
run digits classes own
run "$data/optdigits/data.csv" classes "$data/optdigits/labels.csv"
run "$work/mnist/data.npy:5000" classes "$data/mnist/labels.csv"
run "$data/coil20/data_32x32.npy" classes "$data/coil20/labels.csv"
run "$data/oil/data.csv" classes "$data/oil/labels.csv"
run "$data/segmentation/data.csv" classes "$data/segmentation/labels.csv"
run "$data/letter/data.csv:5000" classes "$data/letter/labels.csv"
run "$data/isomap_faces_32x32/data.npy" values "$data/isomap_faces_32x32/labels.csv"
run "$data/robot_wireless/data.csv" values "$work/robot_wireless/labels.csv"
run "$data/frey_faces/data.npy" none -
run "$data/osu_run1/data.csv" none -
run "$data/animals_33x102/data.csv" none -
