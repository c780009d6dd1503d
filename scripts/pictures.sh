#!/usr/bin/env bash
# Draws the pictures of docs/methods, docs/guide/plots.md and docs/guide/dimensions.md from built-in data and from `eigenfold sample`: the same bytes every time.
#
#   bash scripts/pictures.sh              all of them, by `cargo run --release`
#   bash scripts/pictures.sh isomap mvu   only these
#   EIGENFOLD=path/to/eigenfold bash scripts/pictures.sh
set -euo pipefail
cd "$(dirname "$0")/.."

read -r -a program <<<"${EIGENFOLD:-cargo run --release -q --}"
data=$(mktemp -d)
trap 'rm -rf "$data"' EXIT
out=docs/images/methods
mkdir -p "$out"
wanted=("$@")

sample() { # NAME POINTS [FLAGS]: a data set with its label
    "${program[@]}" sample "$1" -n "$2" --with-label -o "$data/$1.csv" -q "${@:3}"
}

picture() { # NAME INPUT FLAGS: one picture, shrunk; INPUT is a built-in set or a sample
    if [ ${#wanted[@]} -gt 0 ] && [[ " ${wanted[*]} " != *" $1 "* ]]; then return; fi
    local input=("$2")
    if [ -e "$data/$2.csv" ]; then input=("$data/$2.csv" --label label); fi
    "${program[@]}" embed "${input[@]}" "${@:3}" --plot "$out/$1.png" -q
    python3 scripts/shrink_png.py "$out/$1.png"
    printf '%6d kB  %s\n' $(($(wc -c <"$out/$1.png") / 1000)) "$out/$1.png"
}

sample swiss-roll 2000
sample severed-swiss-roll 2000
sample ring 600 --noise 0.15

picture swiss-roll swiss-roll -m pca

picture pca digits -m pca
picture ppca digits -m ppca
picture fa digits -m fa
picture mds iris -m mds --metric manhattan
picture kernel-pca iris -m kernel-pca
picture ppco iris -m ppco
picture pkpca digits -m pkpca
picture isomap swiss-roll -m isomap
picture lle swiss-roll -m lle
picture ltsa swiss-roll -m ltsa
picture hessian-lle severed-swiss-roll -m hessian-lle
picture modified-lle swiss-roll -m modified-lle
picture alle swiss-roll -m alle
picture meu digits -m meu
picture mvu swiss-roll -m mvu
picture laplacian-eigenmaps digits -m laplacian-eigenmaps
picture diffusion-maps ring -m diffusion-maps -k 20
picture smacof digits -m smacof
picture sammon digits -m sammon
picture gplvm iris -m gplvm
picture tsne digits -m tsne
picture sne digits -m sne
picture symmetric-sne digits -m symmetric-sne
picture uni-sne digits -m symmetric-sne --uniform 0.02
picture umap digits -m umap
picture elastic swiss-roll -m elastic -k 12
picture rescale swiss-roll -m ltsa --rescale

# What docs/guide/plots.md shows.
if [ ${#wanted[@]} -eq 0 ] || [[ " ${wanted[*]} " == *" plots "* ]]; then
    plots=docs/images/plots
    "${program[@]}" embed "$plots/cities.csv" --names city -m mds --plot "$plots/names.png" -q
    "${program[@]}" embed digits -m tsne --image 8x8 --plot "$plots/images.png" -q
    "${program[@]}" embed iris -m gplvm --shade --plot "$plots/shade.png" -q
    "${program[@]}" embed digits -m pca -d 5 --plot "$plots/pairs.png" -q
    "${program[@]}" sample digits -o "$data/digits.csv" -q
    head -1498 "$data/digits.csv" >"$data/old.csv"
    (head -1 "$data/digits.csv" && tail -300 "$data/digits.csv") >"$data/new.csv"
    "${program[@]}" embed "$data/old.csv" --label label -m isomap --save "$data/map.model" -q
    "${program[@]}" transform "$data/map.model" "$data/new.csv" --label label -o "$data/map.csv" --plot "$plots/new.png" -q
    for name in names images shade pairs new; do
        python3 scripts/shrink_png.py "$plots/$name.png"
        printf '%6d kB  %s\n' $(($(wc -c <"$plots/$name.png") / 1000)) "$plots/$name.png"
    done
fi

# Dimension against scale, on its own page.
if [ ${#wanted[@]} -eq 0 ] || [[ " ${wanted[*]} " == *" dimension "* ]]; then
    sample swiss-roll 1000 --noise 0.5
    mv "$data/swiss-roll.csv" "$data/noisy.csv"
    "${program[@]}" dimension "$data/noisy.csv" --label label --plot docs/images/dimension.png -q
    python3 scripts/shrink_png.py docs/images/dimension.png
fi

# drill does much more work per point than the others.
sample swiss-roll 1000
picture drill swiss-roll -m drill -k 8
