#!/usr/bin/env bash
# What must hold before a release and takes too long for every change: the examples of all pages, the site with its gallery, and the
# pictures, redrawn. `scripts/check.sh` must have passed. EIGENFOLD_DATA names the directory of data for examples that want them.
#
#   bash scripts/release-check.sh             everything
#   bash scripts/release-check.sh pages site  only these: pages, site, pictures
set -euo pipefail
cd "$(dirname "$0")/.."
target=$(realpath -m "${CARGO_TARGET_DIR:-target}")
parts=("$@")
if [ ${#parts[@]} -eq 0 ]; then parts=(pages site pictures); fi

cargo build --release -p eigenfold-cli -p eigenfold-py
export EIGENFOLD_BUILD=$target/release EIGENFOLD=$target/release/eigenfold EIGENFOLD_PROGRAM=$target/release/eigenfold
failed=()
for part in "${parts[@]}"; do
    began=$SECONDS
    case $part in
    site) run=(bash scripts/site.sh) ;;
    pages) run=(bash scripts/pages.sh) ;;
    pictures) run=(bash -c 'bash scripts/pictures.sh --check && bash scripts/tuning_pictures.sh --check') ;;
    *) echo "no such part: $part (pages, site, pictures)" && exit 2 ;;
    esac
    printf '\n== %s\n' "$part"
    if "${run[@]}"; then result=passed; else result=FAILED && failed+=("$part"); fi
    echo "   $part: $result ($((SECONDS - began)) s)"
done
if [ ${#failed[@]} -gt 0 ]; then echo "failed: ${failed[*]}" && exit 1; fi
echo "the release checks passed: ${parts[*]}"
