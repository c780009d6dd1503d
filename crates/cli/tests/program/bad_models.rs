//! Models that cannot be used, and points that do not fit them.

use crate::{Bench, cloud};

fn bench() -> Bench {
    let bench = Bench::new();
    bench.write("cloud.csv", cloud(40, 3));
    bench.does("embed cloud.csv -m isomap -k 8 -q --save good.model");
    bench
}

#[test]
fn files_that_are_no_models_are_refused() {
    let bench = bench();
    bench.refuses("transform nowhere.model cloud.csv -o m.csv", 2, "nowhere.model: there is no such file");
    bench.refuses("transform cloud.csv cloud.csv -o m.csv", 2, "cloud.csv");
    bench.write("empty.model", "").refuses("transform empty.model cloud.csv -o m.csv", 2, "empty.model");
    bench.refuses("transform . cloud.csv -o m.csv", 2, "is a directory");
}

#[test]
fn a_truncated_model_is_refused_wherever_it_ends() {
    let bench = bench();
    let whole = std::fs::read(bench.path("good.model")).unwrap();
    for tenth in 0..10 {
        bench.write("cut.model", &whole[..whole.len() * tenth / 10]);
        bench.refuses("transform cut.model cloud.csv -o m.csv", 2, "cut.model");
    }
}

#[test]
fn a_corrupted_model_never_panics() {
    let bench = bench();
    let whole = std::fs::read(bench.path("good.model")).unwrap();
    for i in 0..40 {
        let mut bytes = whole.clone();
        let at = (i * i * 7919 + i) % bytes.len();
        bytes[at] ^= 0xff;
        bench.write("bad.model", bytes);
        let answer = bench.run("transform bad.model cloud.csv -q -o m.csv");
        assert!(!answer.err.contains("panicked") && [0, 1, 2].contains(&answer.code), "byte {at}: {}", answer.err);
    }
}

#[test]
fn points_with_other_columns_are_refused() {
    let bench = bench();
    bench.write("wide.csv", cloud(5, 4));
    let message = bench.refuses("transform good.model wide.csv -o m.csv", 2, "4");
    assert!(message.contains('3'), "{message}");
    bench.write("nan.csv", "1,2,3\n1,nan,3\n").refuses("transform good.model nan.csv --header no -o m.csv", 2, "row 2");
    bench.refuses("transform good.model cloud.csv -o good.model", 2, "would replace the input");
    bench.refuses("transform good.model cloud.csv -o m.docx", 2, "m.docx");
}
