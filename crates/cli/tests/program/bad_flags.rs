//! Command lines that cannot be understood or do not fit together.

use crate::Bench;

#[test]
fn near_misses_are_answered_with_the_name_that_was_meant() {
    let bench = Bench::new();
    bench.refuses("embde iris", 2, "did you mean embed?");
    bench.refuses("embed iris --landmrks 3", 2, "did you mean --landmarks?");
    bench.refuses("embed iris --metric euclidan", 2, "did you mean euclidean?");
    bench.refuses("embed iris -m isomop", 2, "isomap");
    bench.refuses("embed iris -m laplacian -o a.csv", 2, "laplacian-eigenmaps");
    bench.refuses("embed iris -m phate -o a.csv", 2, "choose from pca, mds");
}

#[test]
fn values_that_are_none_are_refused() {
    let bench = Bench::new();
    bench.refuses("embed iris -d two", 2, "this is not a number of coordinates; use 1 or more, or auto");
    bench.refuses("embed iris -k -3", 2, "-3");
    bench.refuses("embed iris -m isomap --radius -1", 2, "the radius is -1");
    bench.refuses("embed iris --threads 0", 2, "use an integer from 1 to 1024");
    bench.refuses("embed iris --threads -2", 2, "use an integer from 1 to 1024");
    bench.refuses("embed iris --threads 65535", 2, "more than 1024 threads are never started");
    bench.refuses("embed iris --threads 1025", 2, "one per core");
    bench.refuses("embed iris --memory 4XB", 2, "use kB, MB, GB or TB");
    bench.refuses("embed iris --memory lots", 2, "not a unit of memory");
    bench.refuses("embed iris --memory -4GB", 2, "use a positive number and a unit");
    bench.refuses("embed iris --seed 1.5", 2, "1.5");
    bench.refuses("embed iris --delimiter ab", 2, "one character");
    bench.refuses("embed iris -m isomap --landmarks many -o a.csv", 2, "many");
    bench.refuses("embed iris -m isomap --landmarks -o a.csv", 2, "a value is required for '--landmarks <VALUE>'");
    bench.refuses("embed iris -m isomap --landmarks -3 -o a.csv", 2, "--landmarks is -3");
    bench.refuses("embed", 2, "<INPUT>");
    bench.refuses("embed iris iris", 2, "iris is given twice");
    bench.refuses("transform", 2, "<MODEL>");
}

#[test]
fn a_flag_the_method_does_not_know_is_refused() {
    let bench = Bench::new();
    let message = bench.refuses("embed iris -m pca --landmarks 20 -o a.csv", 2, "landmarks");
    assert!(message.contains("pca"), "{message}");
}

#[test]
fn contradictions_are_refused() {
    let bench = Bench::new();
    bench.refuses("embed iris -k 5 --radius 1", 2, "exclude each other");
    bench.refuses("embed iris --graph within", 2, "add --radius");
    bench.refuses("embed iris --graph within -k 5", 2, "give --radius instead");
    bench.refuses("embed iris --graph all -k 5", 2, "takes no -k");
    bench.refuses("embed iris --graph mutual --radius 2", 2, "--graph within only");
    bench.refuses("graph iris --input-kind similarities", 2, "similarities");
}
