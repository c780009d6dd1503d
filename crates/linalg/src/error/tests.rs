//! The sentences of errors, and what a caller reads beside them.

use super::*;

#[test]
fn names_between_backticks_are_put_as_the_user_knows_them() {
    let flag = |name: &str| if name == "neighbors" { "-k".to_string() } else { format!("--{name}") };
    let as_flags = |message: &str| rename_parameters(message, flag);
    assert_eq!(as_flags("use `neighbors` 14, or `max-iterations`"), "use -k 14, or --max-iterations");
    for plain in ["", "no name", "`eigenfold embed --save` made it", "a ` alone", "`Upper`", "``", "it's `5`"] {
        assert_eq!(as_flags(plain), plain);
    }
    assert_eq!(as_flags("column \"`a`\" holds text; use `label`"), "column \"`a`\" holds text; use --label");
    assert_eq!(as_flags("`two words` and `dims`"), "`two words` and --dims");
    let error = Error::format("a `b`.csv", "bad", "use `ignore` 1");
    assert_eq!(error.message_with(flag), "a `b`.csv: bad; use --ignore 1");
}

#[test]
fn a_broken_or_full_disk_is_not_the_users_fault() {
    let io = |source: std::io::Error| Error::Io { path: "a".into(), source }.is_input();
    // EIO and ENOSPC of Linux, and then names that are wrong: ENOENT, EACCES, EISDIR, EROFS.
    assert!([5, 28].iter().all(|&code| !io(std::io::Error::from_raw_os_error(code))));
    assert!([2, 13, 21, 30].iter().all(|&code| io(std::io::Error::from_raw_os_error(code))));
    assert!(!Error::Stopped.is_input() && Error::data("", "").is_input());
}

#[test]
fn five_components_have_their_sizes_and_the_rest_are_counted() {
    assert_eq!(sizes_text(&[9, 8]), "9, 8 points");
    assert_eq!(sizes_text(&[9, 8, 7, 6, 5, 4]), "9, 8, 7, 6, 5 points and 1 smaller component");
    assert_eq!(sizes_text(&[9, 8, 7, 6, 5, 4, 3]), "9, 8, 7, 6, 5 points and 2 smaller components");
}

#[test]
fn messages_state_the_fact_then_the_way_out() {
    let error = Error::Disconnected { sizes: vec![1200, 30, 2], connecting_k: Some(14) };
    assert_eq!(
        error.to_string(),
        "the graph has 3 connected components (1200, 30, 2 points); use `neighbors` 14, `disconnected` join, or `disconnected` separate"
    );
    let error = Error::Memory {
        what: "the distance matrix".into(),
        needed: 40_000_000_000,
        limit: 8_000_000_000,
        way_out: "use `landmarks` 1000".into(),
    };
    assert_eq!(
        error.to_string(),
        "the distance matrix needs about 40.0 GB and the limit is 8.0 GB; use `landmarks` 1000"
    );
}

#[test]
fn a_caller_reads_the_parameter_the_way_out_and_the_numbers() {
    let error = Error::parameter("noise", "the noise is -1", "give a number that is not negative");
    assert_eq!(error.to_string(), "the noise is -1; give a number that is not negative");
    assert_eq!(error.parameter_name(), Some("noise"));
    assert_eq!(
        (&*error.fact(), error.way_out().as_deref()),
        ("the noise is -1", Some("give a number that is not negative"))
    );

    let error = Error::value("landmarks", 2, "an integer >= 3");
    assert_eq!(error.to_string(), "`landmarks` is 2; give an integer >= 3");
    assert!(matches!(&error, Error::Value { parameter, value, .. } if parameter == "landmarks" && value == "2"));
    assert_eq!(error.way_out().as_deref(), Some("give an integer >= 3"));

    let error = Error::out_of_range("rescale", 9, 2..=5, "`rescale` 9 is too many", "use `rescale` 5 or less");
    assert!(matches!(error, Error::OutOfRange { value: 9, least: 2, most: 5, .. }));
    assert_eq!(
        (error.to_string().as_str(), error.parameter_name()),
        ("`rescale` 9 is too many; use `rescale` 5 or less", Some("rescale"))
    );

    let (guess, choices) = (Some("isomap"), vec!["isomap", "pca"]);
    let (fact, way_out) = ("unknown method \"isomp\"".into(), "did you mean isomap? choose from isomap, pca".into());
    let error = Error::Unknown { parameter: "method".into(), guess, choices, fact, way_out };
    assert_eq!(error.to_string(), "unknown method \"isomp\"; did you mean isomap? choose from isomap, pca");

    let error = Error::inapplicable("band".to_string(), "`band` is for `variant` equality", "leave it out");
    assert_eq!((error.parameter_name(), error.is_parameter()), (Some("band"), true));
}

#[test]
fn a_caller_reads_counts_rows_and_columns_of_the_data() {
    let error = Error::mismatch("columns", (3, 5), "the rows have 3 columns and the model 5", "give the same columns");
    assert!(matches!(error, Error::Mismatch { what: "columns", given: 3, expected: 5, .. }));
    assert!(error.is_input() && !error.is_parameter());

    let error = Error::other_shape(&[("rows", 9, 9), ("columns", 2, 3)], "the start has 2 columns", "give 3");
    assert!(matches!(error, Error::Mismatch { what: "columns", given: 2, expected: 3, .. }));

    let error = Error::data("row 3, column 1 is missing", "fill it in").at_row(2).at_column(0);
    assert_eq!(error.at(), At { row: Some(2), column: Some(0) });
    let error = error.in_file("a.csv");
    assert_eq!((error.at().row, error.to_string()), (Some(2), "a.csv: row 3, column 1 is missing; fill it in".into()));

    let error = Error::too_small(1, 2, "there is only one point", "give at least two");
    assert!(matches!(error, Error::TooSmall { points: 1, least: 2, .. }));
    assert_eq!(Error::Stopped.at(), At::default());
}

#[test]
fn a_message_without_a_way_out_has_no_semicolon() {
    let error = Error::numerical("the elimination tree was not found", "");
    assert_eq!((error.to_string().as_str(), error.way_out()), ("the elimination tree was not found", None));
    assert_eq!(Error::Stopped.to_string(), "stopped before the result was ready");
}

#[test]
fn the_names_of_parameters_stand_for_all_variants_that_have_one() {
    assert_eq!(
        Error::TooFewPoints { k: 5, n: 4 }.to_string(),
        "k is 5 and there are only 4 points; use `neighbors` 3 or less"
    );
    assert_eq!(Error::TooFewPoints { k: 5, n: 4 }.parameter_name(), Some("neighbors"));
    assert_eq!(Error::features(3, 2).to_string(), "3 dimensions were requested for 2 features; use `dims` 2 or less");
    assert_eq!(Error::features(3, 2).parameter_name(), Some("dims"));
    let apart = Error::Disconnected { sizes: vec![2, 1], connecting_k: None };
    assert_eq!((apart.parameter_name(), apart.is_parameter()), (Some("disconnected"), false));
}

#[test]
fn a_slip_has_a_guess_and_another_word_none() {
    assert_eq!(guess(&["isomap", "pca"], "isomp"), Some("isomap"));
    assert_eq!(did_you_mean(guess(&["isomap", "pca"], "isomp")), "did you mean isomap? ");
    assert_eq!(did_you_mean(guess(&["isomap", "pca"], "kernel")), "");
}
