#!/usr/bin/env bash
# Runs every example of the gallery without a display, each in a fresh directory, and fails if one raises.
#
#     PYTHON=/path/to/python EIGENFOLD_DATA=/path/to/data scripts/gallery.sh [WORD ...]
#
# The Python needs eigenfold, matplotlib, pandas, scipy and scikit-learn. With words, only examples whose path contains one of
# them are run. An example whose data or packages are missing ends with a line that begins with "skipped:"; these are listed.
# FIGURES names a directory for the pictures, one PNG per figure.
set -euo pipefail
cd "$(dirname "$0")/.."
python=${PYTHON:-python3}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export MPLBACKEND=Agg PYTHONDONTWRITEBYTECODE=1
if [ -n "${EIGENFOLD_DATA:-}" ]; then EIGENFOLD_DATA=$(realpath "$EIGENFOLD_DATA"); fi
if [ -n "${FIGURES:-}" ]; then mkdir -p "$FIGURES"; FIGURES=$(realpath "$FIGURES"); export FIGURES; fi

# Runs one example as a script; afterwards its figures are written and its CPU seconds printed.
cat >"$work/run.py" <<'PYTHON'
import os, pathlib, runpy, sys, time, warnings
warnings.simplefilter("default")
runpy.run_path(sys.argv[1], run_name="__main__")
print(f"cpu {time.process_time():.1f}")
from matplotlib import pyplot
if not pyplot.get_fignums():
    sys.exit("the example draws no figure")
if "FIGURES" in os.environ:
    for at in pyplot.get_fignums():
        pyplot.figure(at).savefig(pathlib.Path(os.environ["FIGURES"]) / f"{pathlib.Path(sys.argv[1]).stem}-{at}.png", dpi=110)
PYTHON

ran=0 failed=() skipped=()
while IFS= read -r example; do
    if [ $# -gt 0 ]; then
        wanted=no
        for word in "$@"; do case $example in *"$word"*) wanted=yes ;; esac; done
        if [ "$wanted" = no ]; then continue; fi
    fi
    mkdir "$work/here"
    name=${example#examples/gallery/}
    if (cd "$work/here" && "$python" "$work/run.py" "$OLDPWD/$example" >"$work/out" 2>"$work/err"); then
        ran=$((ran + 1))
        printf '%-55s %6s CPU s\n' "$name" "$(sed -n 's/^cpu //p' "$work/out")"
        grep -E 'Warning' "$work/err" | sed 's/^/    /' || true
        if [ -n "${VERBOSE:-}" ]; then grep -v '^cpu ' "$work/out" | sed 's/^/    | /' || true; fi
    elif tail -1 "$work/err" | grep -q '^skipped: '; then
        skipped+=("$name ($(tail -1 "$work/err" | sed 's/^skipped: //'))")
    else
        failed+=("$name")
        printf '%-55s FAILED\n' "$name"
        tail -15 "$work/err" | sed 's/^/    /'
    fi
    rm -rf "$work/here"
done < <(find examples/gallery -name 'plot_*.py' | sort)

echo "$ran examples ran, ${#skipped[@]} were skipped, ${#failed[@]} failed"
for one in "${skipped[@]}"; do echo "skipped: $one"; done
if [ ${#failed[@]} -gt 0 ] || [ $((ran + ${#skipped[@]})) -eq 0 ]; then exit 1; fi
