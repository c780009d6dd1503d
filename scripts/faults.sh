#!/usr/bin/env bash
# Every system call that writes fails in turn (by strace), and signals come at random times. After each run the outputs are
# all new or all old, as the exit code says, and no scratch directory is left.
# usage: scripts/faults.sh [PROGRAM]
set -euo pipefail
cd "$(dirname "$0")/.."
program=$(realpath "${1:-target/release/eigenfold}")
command -v strace >/dev/null || { echo "strace is not installed: no faults were injected"; exit 0; }
bench=$(mktemp -d)
trap 'rm -rf "$bench"' EXIT
cd "$bench"
for i in $(seq 40); do echo "$i.5,$((i * 7 % 41)).25,$((i * i % 13)).125"; done >in.csv
trials=0 bad=0

fresh() {
    rm -rf out && mkdir out
    for name in a.csv a.model a.json; do echo old >out/$name; done
}
# All old after a failure, all new after a success.
judge() {
    local code=$1 what=$2 old=0 name
    for name in a.csv a.model a.json; do if [ "$(head -c 4 out/$name 2>/dev/null)" = "old" ]; then old=$((old + 1)); fi; done
    trials=$((trials + 1))
    local left
    left=$(find out -name '.eigenfold-*' | wc -l)
    if [ "$left" -ne 0 ] || { [ "$code" -eq 0 ] && [ $old -ne 0 ]; } || { [ "$code" -ne 0 ] && [ $old -ne 3 ]; }; then
        bad=$((bad + 1))
        echo "wrong: $what: exit $code, $old of 3 old, $left scratch directories"
    fi
}
embed="$program embed in.csv -m pca --threads 1 -q -o out/a.csv --save out/a.model --json out/a.json"
for call in rename linkat fsync fchmod mkdir write unlink openat; do
    for when in $(seq 1 40); do
        for error in EIO ENOSPC; do
            fresh
            code=0
            strace -f -qq -o trace -e trace=$call -e "inject=$call:error=$error:when=$when" $embed 2>/dev/null || code=$?
            grep -q INJECTED trace || break 2
            judge $code "$call $when $error"
        done
    done
done
for signal in TERM HUP INT; do
    for i in $(seq 20); do
        fresh
        $embed 2>/dev/null &
        child=$!
        sleep "0.0$((RANDOM % 60 + 10))"
        kill -$signal $child 2>/dev/null || true
        code=0
        wait $child || code=$?
        judge $code "$signal"
    done
done
echo "faults: $trials trials, $bad wrong"
[ $bad -eq 0 ]
