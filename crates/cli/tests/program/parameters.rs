//! The methods' parameters as flags: what is shown can be given, and what is refused says what would do.

use crate::Bench;
use serde_json::json;

#[test]
fn a_default_that_is_shown_can_be_given() {
    let bench = Bench::new();
    for (method, flag) in [
        ("le", "bandwidth"),
        ("dm", "bandwidth"),
        ("kernel-pca", "bandwidth"),
        ("alle", "regularization"),
        ("meu", "noise"),
        ("drill", "penalty"),
    ] {
        bench.does(&format!("embed iris -m {method} -q -o a.csv --json a.json"));
        bench.does(&format!("embed iris -m {method} --{flag} auto -q -o b.csv --json b.json"));
        assert_eq!(bench.read("a.csv"), bench.read("b.csv"), "{method}");
        let used = |file: &str| bench.json(file)["parameters"][flag]["used"].clone();
        assert_eq!(used("a.json"), used("b.json"), "{method}");
        assert_eq!(bench.json("b.json")["parameters"][flag]["requested"], json!("auto"));
    }
    bench.does("embed iris -m kernel-pca --scale auto --kernel sigmoid -q -o a.csv");
}

#[test]
fn a_parameter_that_does_not_apply_is_refused_by_what_it_needs() {
    let bench = Bench::new();
    let said = "--degree is for --kernel polynomial; leave it out";
    bench.refuses("embed iris -m kernel-pca --degree 2 -o a.csv", 2, said);
    bench.refuses("embed iris -m kernel-pca --kernel gaussian --degree 2 -o a.csv", 2, said);
    let said = "--scale is for --kernel polynomial or sigmoid; leave it out";
    bench.refuses("embed iris -m kernel-pca --scale 2 -o a.csv", 2, said);
    let said = "--bandwidth is for --kernel heat; leave it out";
    bench.refuses("embed iris -m le --bandwidth 1 --kernel simple -o a.csv", 2, said);
    let said = "--mutual is for --kernel heat or simple; leave it out";
    bench.refuses("embed iris -m le --mutual twice --kernel dual -o a.csv", 2, said);
    bench.refuses("embed iris -m mvu --band 0.1 -o a.csv", 2, "--band is for --variant equality; leave it out");
}

#[test]
fn a_value_outside_its_range_is_refused_with_the_range() {
    let bench = Bench::new();
    let said = "eigenfold: --landmarks is 2; give an integer >= 3, or none";
    assert_eq!(bench.refuses("embed iris -m isomap --landmarks 2 -o a.csv", 2, ""), said);
    let said = "eigenfold: --alpha is 1.5; give a number from 0 to 1";
    assert_eq!(bench.refuses("embed iris -m dm --alpha 1.5 -o a.csv", 2, ""), said);
    let said = "--kernel is \"warm\"; give heat, simple or dual";
    bench.refuses("embed iris -m le --kernel warm -o a.csv", 2, said);
    let said = "--ridge is -1; give a number from 0 to 1,000,000";
    bench.refuses("graph iris --learned --ridge -1 -o a.csv", 2, said);
    let said = "--penalize-diagonal is \"maybe\"; give true or false";
    bench.refuses("graph iris --learned --penalize-diagonal maybe -o a.csv", 2, said);
    let said = "pca has no parameter --landmarks; it has none of its own";
    bench.refuses("embed iris -m pca --landmarks 5 -o a.csv", 2, said);
}

#[test]
fn the_order_of_flags_does_not_matter() {
    let bench = Bench::new();
    bench.does("embed iris -m kernel-pca --scale 0.5 --degree 2 --kernel poly -q -o a.csv");
    bench.does("embed iris -m kernel-pca --kernel polynomial --degree 2 --scale 0.5 -q -o b.csv");
    assert_eq!(bench.read("a.csv"), bench.read("b.csv"));
}

#[test]
fn the_list_of_methods_says_what_a_shared_flag_means_for_each() {
    let bench = Bench::new();
    for (method, said) in [
        ("isomap", "--landmarks the number of landmarks, which are scaled exactly"),
        ("meu", "--landmarks the number of landmarks, which the model covers"),
        ("mvu", "--landmarks the number of landmarks, which are unfolded exactly"),
        ("le", "--bandwidth with --kernel heat: sigma of the heat kernel"),
        ("dm", "--bandwidth sigma of the kernel"),
        ("drill", "--max-iterations the maximum number of iterations for one penalty"),
    ] {
        let words = bench.does(&format!("methods {method}")).out.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(words.contains(said), "{said}\n{words}");
    }
}

#[test]
fn the_parameters_of_one_method_are_a_table_for_its_page() {
    let bench = Bench::new();
    let said = "| parameter | default | meaning |\n|---|---|---|\n| `landmarks` | `none` | the number of landmarks, which are scaled \
                exactly; all other points are embedded from them (an integer >= 3; none = all points) |\n";
    assert_eq!(bench.does("methods isomap --markdown").out, said);
    assert_eq!(bench.does("methods pca --markdown").out, "None of its own.\n");
    bench.refuses("methods --markdown", 2, "<NAME>");
}
