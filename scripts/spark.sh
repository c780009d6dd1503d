#!/usr/bin/env bash
# `eigenfold.spark`, tested in three kinds of sessions: one process, a server of Spark Connect, and a cluster of two executors on this machine.
# Uses the virtual environment and the package that `scripts/python.sh` has made. Arguments go to pytest. Where there is no Java or no pyspark,
# the tests are listed as skipped.
set -euo pipefail
cd "$(dirname "$0")/.."
target=$(realpath "${CARGO_TARGET_DIR:-target}")
python=$target/python-venv/bin/python

skip() {
    echo "$1: no test on Spark was run"
    echo "test_spark: $1" >>"${EIGENFOLD_SKIPPED:-/dev/null}"
    exit 0
}
java -version >/dev/null 2>&1 || skip "java is not installed"
"$python" -c 'import pyspark' 2>/dev/null || skip "pyspark is not installed"

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export PYTHONPATH=$target/python PYTHONDONTWRITEBYTECODE=1 PYSPARK_PYTHON=$python
export EIGENFOLD_PROGRAM=$(realpath "${EIGENFOLD_BUILD:-$target/debug}/eigenfold")
# This machine by a name that always resolves, and files of Spark where they are removed.
export SPARK_LOCAL_IP=127.0.0.1 SPARK_LOCAL_HOSTNAME=localhost SPARK_WORKER_DIR=$work/executors SPARK_LOCAL_DIRS=$work/local SPARK_LOG_DIR=$work/logs
# Short queries: most of their time would go into compiling them well.
export JDK_JAVA_OPTIONS="-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
for kind in "local[2]" connect "local-cluster[2,1,1024]"; do
    began=$SECONDS
    EIGENFOLD_SPARK=$kind "$python" -m pytest -q --rootdir "$PWD" crates/py/spark-tests -W ignore::FutureWarning "$@" 2>"$work/stderr" ||
        { tail -n 100 "$work/stderr"; exit 1; }
    echo "   Spark $kind: $((SECONDS - began)) s"
done
