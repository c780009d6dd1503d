#!/usr/bin/env bash
# Draws the pictures of docs/methods, docs/guide/plots.md and docs/guide/dimensions.md, each on light and on dark paper (NAME.png and
# NAME-dark.png), from built-in data, from `eigenfold sample` and from scripts/picture_data.py: the same pixels every time.
#
#   bash scripts/pictures.sh                all of them, by `cargo run --release`
#   bash scripts/pictures.sh isomap plots   only these, or those of a directory
#   bash scripts/pictures.sh --check        draws all into a temporary directory; exit status 1 and a list if one differs from docs/images
#   bash scripts/pictures.sh page           the report page, by a browser (needs node and chromium), and the contact sheet, whose seconds
#                                           differ from run to run: not part of the above
#   EIGENFOLD=path/to/eigenfold bash scripts/pictures.sh
set -euo pipefail
cd "$(dirname "$0")/.."

read -r -a program <<<"${EIGENFOLD:-cargo run --release -q --}"
data=$(mktemp -d)
trap 'rm -rf "$data"' EXIT
kept=docs/images out=docs/images
if [ "${1:-}" = --check ]; then
    shift
    out=$data/images
fi
wanted=("$@")
drawn=()

is_wanted() { # NAME, as in methods/isomap: by itself, without its directory, or by that
    if [ ${#wanted[@]} -eq 0 ]; then return; fi
    for one in "${wanted[@]}"; do
        if [ "$one" = "$1" ] || [ "$one" = "${1##*/}" ] || [ "$one" = "${1%%/*}" ]; then return; fi
    done
    return 1
}

draw() { # NAME COMMAND FLAGS: NAME.png and NAME-dark.png; PLOT is the flag that names the picture
    is_wanted "$1" || return 0
    local theme file
    mkdir -p "$(dirname "$out/$1")"
    for theme in light dark; do
        file=$1.png
        if [ "$theme" = dark ]; then file=$1-dark.png; fi
        "${program[@]}" "${@:2}" "${PLOT:---plot}" "$out/$file" --theme "$theme" -q
        python3 scripts/shrink_png.py "$out/$file"
        printf '%6d kB  %s\n' $(($(wc -c <"$out/$file") / 1000)) "$file"
        drawn+=("$file")
    done
}

sample() { # NAME POINTS TITLE [FLAGS]: a data set whose label is called TITLE
    "${program[@]}" sample "$1" -n "$2" --with-label -o "$data/$1.csv" -q "${@:4}"
    sed -i "1s/label/$3/" "$data/$1.csv"
}

if [ "${wanted[*]-}" = page ]; then
    "${program[@]}" compare digits --report "$data/digits.html" --contact-sheet "$data/contact-sheet.png" -q
    "${program[@]}" compare digits --contact-sheet "$data/contact-sheet-dark.png" --theme dark -q
    (cd web && node hero.mjs "$data/digits.html" "$data")
    for file in page.png page-dark.png contact-sheet.png contact-sheet-dark.png; do
        python3 scripts/shrink_png.py "$data/$file"
        mv "$data/$file" "$kept/compare/$file"
        printf '%6d kB  %s\n' $(($(wc -c <"$kept/compare/$file") / 1000)) "compare/$file"
    done
    exit
fi

along="position along the roll"
sample swiss-roll 2000 "$along"
sample severed-swiss-roll 2000 "$along"
sample ring 600 angle --noise 0.15
"${program[@]}" sample digits -o "$data/digits.csv" -q
"${program[@]}" sample iris -o "$data/iris.csv" -q
python3 scripts/picture_data.py "$data"
roll=("$data/swiss-roll.csv" --label "$along")
mv "$data/severed-swiss-roll.csv" "$data/severed-Swiss-roll.csv"
severed=("$data/severed-Swiss-roll.csv" --label "$along")

# The data themselves: PCA of three coordinates is a rotation, which --align undoes; the axis of the roll points away.
awk -F, '{ print $1 "," $3 "," $2 }' "$data/swiss-roll.csv" | sed 1d >"$data/axes.csv"
draw methods/swiss-roll embed "${roll[@]}" -m pca -d 3 --align "$data/axes.csv"

draw methods/pca embed digits -m pca
"${program[@]}" embed digits -m pca -o "$data/pca.csv" -q
draw methods/ppca embed "$data/digits-with-30-%-of-cells-missing.csv" --label digit -m ppca --missing model --align "$data/pca.csv"
draw methods/fa embed "$data/iris-with-two-columns-of-noise.csv" --label species -m fa
draw methods/mds embed iris -m mds --metric manhattan
draw methods/kernel-pca embed "$data/concentric-rings.csv" --label ring -m kernel-pca --bandwidth 0.3
draw methods/ppco embed "$data/noisy-distances-of-cities.csv" --input-kind distances -m ppco \
    --names "$kept/plots/cities.csv:city" --align "$kept/plots/places.csv"
draw methods/pkpca embed digits -m pkpca
draw methods/isomap embed "${roll[@]}" -m isomap
draw methods/lle embed "${roll[@]}" -m lle
draw methods/ltsa embed "${roll[@]}" -m ltsa
draw methods/hessian-lle embed "${severed[@]}" -m hessian-lle
draw methods/modified-lle embed "${roll[@]}" -m modified-lle
draw methods/alle embed "${roll[@]}" -m alle
draw methods/meu embed digits -m meu -k 30
draw methods/mvu embed "${roll[@]}" -m mvu
draw methods/laplacian-eigenmaps embed digits -m laplacian-eigenmaps -k 150
draw methods/diffusion-maps embed "$data/ring.csv" --label angle -m diffusion-maps -k 20
"${program[@]}" embed digits -m smacof -o "$data/smacof.csv" -q
PLOT=--plot-shepard draw methods/smacof quality digits "$data/smacof.csv" --gp-likelihood no
draw methods/sammon embed digits -m sammon
draw methods/gplvm embed iris -m gplvm --shade
draw methods/tsne embed digits -m tsne
draw methods/sne embed digits -m sne
draw methods/symmetric-sne embed digits -m symmetric-sne
draw methods/uni-sne embed digits -m symmetric-sne --uniform 0.02
draw methods/umap embed digits -m umap
draw methods/elastic embed "${roll[@]}" -m elastic -k 12
draw methods/rescale embed "${roll[@]}" -m ltsa --rescale

# What docs/guide/plots.md shows.
draw plots/names embed "$kept/plots/cities.csv" --names city -m mds --align "$kept/plots/places.csv"
draw plots/images embed digits -m tsne --image 8x8
draw plots/shade embed iris -m gplvm --shade
draw plots/pairs embed digits -m pca -d 5
"${program[@]}" embed digits -m tsne -o "$data/tsne.csv" -q
PLOT=--plot-pointwise draw plots/pointwise quality digits "$data/tsne.csv" --gp-likelihood no --pointwise-by continuity
head -1498 "$data/digits.csv" >"$data/old.csv"
(head -1 "$data/digits.csv" && tail -300 "$data/digits.csv") >"$data/last-300-digits.csv"
"${program[@]}" embed "$data/old.csv" --label label -m isomap --save "$data/map.model" -q
draw plots/new transform "$data/map.model" "$data/last-300-digits.csv" --label label -o "$data/map.csv"

# Dimension against scale, on its own page.
sample swiss-roll 1000 "$along" --noise 0.5
mv "$data/swiss-roll.csv" "$data/noisy-Swiss-roll.csv"
draw dimension dimension "$data/noisy-Swiss-roll.csv" --label "$along"

# drill does much more work per point than the others.
sample swiss-roll 1000 "$along"
draw methods/drill embed "${roll[@]}" -m drill -k 8

if [ "$out" != "$kept" ]; then
    differing=()
    for file in "${drawn[@]}"; do
        python3 scripts/shrink_png.py --same "$kept/$file" "$out/$file" 2>/dev/null || differing+=("$file")
    done
    if [ ${#differing[@]} -gt 0 ]; then
        printf 'differs from docs/images: %s\n' "${differing[@]}"
        exit 1
    fi
    echo "all ${#drawn[@]} pictures are as in docs/images"
fi
