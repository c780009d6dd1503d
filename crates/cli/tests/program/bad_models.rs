//! Models that cannot be used, and points that do not fit them.

use crate::{Bench, cloud};

/// The bytes before a model's body; those from 22 on are the body's checksum.
const HEADER: usize = 30;

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
fn a_damaged_model_is_refused_wherever_the_damage_is() {
    let bench = bench();
    let whole = std::fs::read(bench.path("good.model")).unwrap();
    for i in 0..30 {
        let mut bytes = whole.clone();
        let at = if i < 15 { 2 * i } else { i * i * 7919 % bytes.len() };
        bytes[at] ^= 0x55;
        bench.write("bad.model", bytes);
        bench.refuses("transform bad.model cloud.csv -q -o m.csv", 2, "bad.model: ");
    }
}

#[test]
fn a_model_made_up_to_do_harm_is_no_panic() {
    let bench = bench();
    let whole = std::fs::read(bench.path("good.model")).unwrap();
    for i in 0..60 {
        let mut bytes = whole.clone();
        // The recipe and the report are at the beginning of the body; the rules, sizes and lists at its end.
        let at = if i % 2 == 0 { HEADER + i / 2 * 3 } else { bytes.len() - 1 - i / 2 * 37 };
        bytes[at] ^= [0x01, 0x80, 0xff, 0x55][i % 4];
        let sum = bytes[HEADER..]
            .iter()
            .fold(0xcbf2_9ce4_8422_2325u64, |h, &b| (h ^ u64::from(b)).wrapping_mul(0x0100_0000_01b3));
        bytes[22..HEADER].copy_from_slice(&sum.to_le_bytes());
        bench.write("bad.model", bytes);
        let answer = bench.run("transform bad.model cloud.csv -q -o m.csv");
        let defect = answer.err.contains("panicked") || answer.err.contains("this is a defect");
        assert!(!defect && [0, 1, 2].contains(&answer.code), "byte {at}: {} {}", answer.code, answer.err);
    }
}

#[test]
fn a_model_of_another_version_is_refused_by_its_version() {
    let bench = bench();
    let mut bytes = std::fs::read(bench.path("good.model")).unwrap();
    bytes[10] = 99;
    bench.write("future.model", bytes);
    bench.refuses("transform future.model cloud.csv -o m.csv", 2, "model format 99");
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
