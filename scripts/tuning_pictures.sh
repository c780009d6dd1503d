#!/usr/bin/env bash
# Draws the pictures of docs/guide/tuning.md: sweeps of a parameter of t-SNE or UMAP, one contact sheet each, on light and on dark paper (NAME.png
# and NAME-dark.png), the same bytes every time.
#
#   bash scripts/tuning_pictures.sh                       all of them, by `cargo run --release`
#   bash scripts/tuning_pictures.sh perplexity noise      only these
#   bash scripts/tuning_pictures.sh --check [NAME ...]    draw them elsewhere, and fail if a byte differs from those in docs/images/tuning
#   EIGENFOLD=path/to/eigenfold bash scripts/tuning_pictures.sh
set -euo pipefail
cd "$(dirname "$0")/.."

read -r -a program <<<"${EIGENFOLD:-cargo run --release -q --}"
kept=docs/images/tuning
data=$(mktemp -d)
trap 'rm -rf "$data"' EXIT
out=$kept
check=no
if [ "${1:-}" = --check ]; then
    check=yes
    out=$data/drawn
    shift
fi
mkdir -p "$out"
wanted=("$@")
differ=()

sweep() { # NAME INPUT METHOD PARAMETER VALUES [FLAGS]: one picture, its panels in the order of VALUES (with spaces between)
    if [ ${#wanted[@]} -gt 0 ] && [[ " ${wanted[*]} " != *" $1 "* ]]; then return; fi
    local values
    read -r -a values <<<"$5"
    local theme file
    for theme in light dark; do
        file=$1.png
        if [ "$theme" = dark ]; then file=$1-dark.png; fi
        "${program[@]}" compare "$2" --methods "$3" --sweep "$4=$(IFS=,; echo "${values[*]}")" "${@:6}" \
            --seconds 600 --contact-sheet "$data/sheet.png" --theme "$theme" --json "$data/sheet.json" -q
        python3 scripts/arrange_sheet.py "$data/sheet.png" "$data/sheet.json" "$out/$file" "${values[@]}"
        printf '%6d kB  %s\n' $(($(wc -c <"$out/$file") / 1000)) "$out/$file"
        if [ $check = yes ] && ! cmp -s "$out/$file" "$kept/$file"; then differ+=("$file"); fi
    done
}

"${program[@]}" sample blobs -n 500 --noise 100 -o "$data/noise.csv" -q

sweep perplexity digits tsne perplexity "5 30 100"
sweep noise "$data/noise.csv" tsne perplexity "3 30 100"
sweep exaggeration digits tsne exaggeration "1 12 50"
sweep degrees digits tsne degrees "0.5 1 10"
sweep umap-5 digits umap min-dist "0 0.25 0.8" -k 5
sweep umap-15 digits umap min-dist "0 0.25 0.8" -k 15
sweep umap-50 digits umap min-dist "0 0.25 0.8" -k 50
sweep umap-noise "$data/noise.csv" umap neighbors "3 15 50"
sweep init-tsne digits tsne init "pca spectral random"
sweep init-umap digits umap init "pca spectral random"

if [ ${#differ[@]} -gt 0 ]; then
    echo "these pictures are stale: ${differ[*]}; run scripts/tuning_pictures.sh" >&2
    exit 1
fi
