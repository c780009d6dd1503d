//! Comparisons: who takes part, what is said of them, what is written, what is refused.

use crate::Bench;
use serde_json::Value;

/// The data of a page.
fn data(html: &str) -> Value {
    let after = html.split("<script id=\"eigenfold-data\" type=\"application/json\">").nth(1).unwrap();
    serde_json::from_str(after.split("</script>").next().unwrap()).unwrap()
}

#[test]
fn methods_are_evaluated_ranked_and_written() {
    let bench = Bench::new();
    let answer = bench.does(
        "compare iris --methods pca,isomap,tsne --report r.html --json r.json --contact-sheet p.svg --atlas a.parquet",
    );
    assert!(answer.err.contains("compare: iris (150 points of 4 features), 3 maps in"), "{}", answer.err);
    assert!(answer.err.contains("R_NX") && answer.err.contains("ranked by the area under R_NX(k)"), "{}", answer.err);
    assert!(answer.err.contains("t-SNE: a picture of groups"), "{}", answer.err);
    let report = bench.json("r.json");
    let ranking = report["ranking"].as_array().unwrap();
    assert_eq!(ranking.len(), 3);
    let area =
        |name: &Value| report["methods"][name.as_str().unwrap()]["quality"]["rnx_auc"]["value"].as_f64().unwrap();
    assert!(ranking.windows(2).all(|two| area(&two[0]) >= area(&two[1])), "{ranking:?}");
    for name in ranking {
        let method = &report["methods"][name.as_str().unwrap()];
        assert_eq!((&method["status"], &method["reason"]), (&"done".into(), &Value::Null));
        assert_eq!(method["embedding"].as_array().unwrap().len(), 150);
        assert!(method["seconds"].as_f64().unwrap() >= 0.0 && method["quality"]["knn_accuracy"]["value"].is_number());
        assert!(method["disparity"].as_f64().unwrap() < 1.0);
    }
    // The best is turned onto itself.
    assert!(report["methods"][ranking[0].as_str().unwrap()]["disparity"].as_f64().unwrap() < 1e-9);
    let page = data(&bench.read("r.html"));
    assert_eq!((&page["version"], &page["input"]["shown"], &page["title"]), (&1.into(), &150.into(), &"iris".into()));
    assert_eq!(page["ranking"]["order"].as_array().unwrap(), ranking);
    assert_eq!(page["labels"][0]["classes"].as_array().unwrap().len(), 3);
    let tsne = page["maps"].as_array().unwrap().iter().find(|map| map["id"] == "tsne").unwrap();
    assert_eq!((&tsne["title"], &tsne["inverse_transform"]["rule"]), (&"t-SNE".into(), &"kriging".into()));
    assert!(tsne["animation"]["labels"].as_array().unwrap().len() > 5 && tsne["shade"]["high"].as_f64().unwrap() > 0.0);
    assert!(bench.read("p.svg").starts_with("<svg") && bench.path("a.parquet").metadata().unwrap().len() > 4000);
}

#[test]
fn one_that_fails_says_why_and_the_others_go_on() {
    let bench = Bench::new();
    let answer = bench.does("compare iris --methods pca,hessian-lle -k 3 --json r.json --contact-sheet p.pdf");
    assert!(answer.err.contains("-  hessian-lle  failed: "), "{}", answer.err);
    let report = bench.json("r.json");
    let failed = &report["methods"]["hessian-lle"];
    assert_eq!((&failed["status"], &failed["embedding"]), (&"failed".into(), &Value::Null));
    assert!(failed["reason"].as_str().unwrap().contains("-k"), "{failed}");
    assert_eq!(report["ranking"].as_array().unwrap(), &["pca"]);
    bench.refuses("compare iris --methods hessian-lle -k 3 --json none.json", 2, "no method gave a map");
    assert_eq!(bench.files(), ["p.pdf", "r.json"]);
}

#[test]
fn a_descent_over_its_time_is_stopped_and_shown_so() {
    let bench = Bench::new();
    bench.does("compare iris --methods pca,tsne --seconds 0.1 --max-iterations 1000000 --tolerance 0 --json r.json");
    let tsne = &bench.json("r.json")["methods"]["tsne"];
    assert_eq!((&tsne["status"], &tsne["converged"]), (&"stopped".into(), &false.into()));
    assert!(tsne["reason"].as_str().unwrap().contains("0.1 s"), "{}", tsne["reason"]);
    assert_eq!(tsne["embedding"].as_array().unwrap().len(), 150);
}

#[test]
fn a_sample_of_the_rows_is_the_same_for_all_and_said() {
    let bench = Bench::new();
    let answer = bench.does("compare digits --methods pca,isomap --points 60 --report r.html --json r.json");
    assert!(answer.err.contains("60 of 1,797 rows are used, drawn at random; --points all"), "{}", answer.err);
    let report = bench.json("r.json");
    let rows = report["input"]["rows"].as_array().unwrap();
    assert!(rows.len() == 60 && rows.windows(2).all(|two| two[0].as_u64() < two[1].as_u64()));
    assert_eq!((&report["input"]["n"], &report["input"]["compared"]), (&1797.into(), &60.into()));
    let page = data(&bench.read("r.html"));
    assert_eq!((&page["input"]["n"], &page["input"]["shown"]), (&1797.into(), &60.into()));
    assert_eq!(page["row_ids"]["shape"], serde_json::json!([60]));
    assert_eq!(page["image"], serde_json::json!({"width": 8, "height": 8}));
}

#[test]
fn a_sweep_makes_a_map_for_every_value_of_those_that_have_it() {
    let bench = Bench::new();
    bench.does("compare iris --points 50 --methods pca,isomap,lle --sweep k=6,12 --json r.json");
    let report = bench.json("r.json");
    let mut names: Vec<&String> = report["methods"].as_object().unwrap().keys().collect();
    names.sort();
    assert_eq!(names, ["isomap neighbors=12", "isomap neighbors=6", "lle neighbors=12", "lle neighbors=6", "pca"]);
    let swept = &report["methods"]["isomap neighbors=6"];
    assert_eq!(swept["sweep"], serde_json::json!({"parameter": "neighbors", "value": "6"}));
    assert_ne!(swept["embedding"], report["methods"]["isomap neighbors=12"]["embedding"]);
}

#[test]
fn hostile_names_and_labels_stay_texts_on_the_page() {
    let bench = Bench::new();
    let evil = "</script><script>alert(1)</script>";
    let rows: String = (0..40).map(|i| format!("{},{},{evil}{}\n", i, (i * 7) % 11, i % 2)).collect();
    bench.write("evil.csv", format!("<!--{evil},\u{1f600} & <b>,kind\n{rows}"));
    bench.does("compare evil.csv --label kind --methods pca,isomap -k 5 --report r.html -q");
    let html = bench.read("r.html");
    assert!(!html.contains("alert(1)</script>") && !html.contains("<!--</script>"), "the text got out");
    let page = data(&html);
    assert_eq!(page["columns"][0]["name"], format!("<!--{evil}"));
    assert_eq!(page["columns"][1]["name"], "\u{1f600} & <b>");
    assert_eq!(page["labels"][0]["classes"][1], format!("{evil}1"));
}

#[test]
fn maps_of_other_dimensions_many_classes_and_none_are_shown() {
    let bench = Bench::new();
    for dims in [1, 3, 4] {
        bench.does(&format!(
            "compare iris --points 40 --methods pca,mds -d {dims} --report d{dims}.html --contact-sheet d{dims}.png -q"
        ));
        let page = data(&bench.read(&format!("d{dims}.html")));
        assert_eq!(page["maps"][0]["dims"], dims);
        assert!(page["maps"][0]["shade"].is_null());
    }
    let rows: String = (0..600).map(|i| format!("{},{},c{}\n", (i * 37) % 101, (i * 17) % 89, i % 500)).collect();
    bench.write("many.csv", format!("a,b,class\n{rows}"));
    bench.does("compare many.csv --label class --methods pca --report many.html -q");
    assert_eq!(data(&bench.read("many.html"))["labels"][0]["classes"].as_array().unwrap().len(), 500);
    bench.does("compare many.csv --points 40 --ignore class --methods pca --report none.html -q");
    assert_eq!(data(&bench.read("none.html"))["labels"], serde_json::json!([]));
}

#[test]
fn kept_columns_color_the_page_and_follow_their_rows() {
    let bench = Bench::new();
    let cell = |i: i32| if i % 7 == 3 { String::new() } else { format!("{}", (i * 37) % 101) };
    let rows: String =
        (0..60).map(|i| format!("{},{},{},c{},{}\n", i, cell(i), (i * 17) % 89, i % 3, 1000 + i)).collect();
    bench.write("t.csv", format!("x,y,z,class,day\n{rows}"));
    bench.does("compare t.csv --label class --keep day --missing drop --points 20 --methods pca --report r.html --json r.json -q");
    let page = data(&bench.read("r.html"));
    let labels: Vec<&Value> = page["labels"].as_array().unwrap().iter().map(|label| &label["name"]).collect();
    assert_eq!(labels, ["class", "day"]);
    let rows = bench.json("r.json")["input"]["rows"].as_array().unwrap().clone();
    assert!(rows.len() == 20 && rows.iter().all(|row| row.as_u64().unwrap() % 7 != 3), "{rows:?}");
}

#[test]
fn prepared_columns_are_undone_on_the_page() {
    let bench = Bench::new();
    bench.does("compare iris --methods pca --standardize --report r.html -q");
    let column = &data(&bench.read("r.html"))["columns"][0];
    assert!((column["center"].as_f64().unwrap() - 5.843).abs() < 0.01 && column["scale"].as_f64().unwrap() < 1.0);
}

#[test]
fn what_cannot_be_compared_is_refused_before_any_work() {
    let bench = Bench::new();
    let refused = [
        ("compare iris --methods pca,isomab", "isomap"),
        ("compare iris --methods pca --sweep neighbors", "this is not a parameter with values"),
        ("compare iris --methods pca --sweep perplexity=5,10", "none of the methods has a parameter \"perplexity\""),
        ("compare iris --methods pca --perplexity 30", "none of the methods has a parameter --perplexity"),
        ("compare iris --methods isomap --sweep neighbors=few", "not a number of neighbors"),
        ("compare iris -k auto", "--sweep neighbors=5,10,20"),
        (
            "compare iris --methods isomap --graph all --sweep neighbors=5,9",
            "no number of neighbors to sweep; leave out",
        ),
        ("compare iris --report page.txt", "end its name in .html"),
        ("compare iris --atlas atlas.csv", "end its name in .parquet"),
        ("compare iris --contact-sheet sheet.gif", "use .png, .svg or .pdf"),
        ("compare iris --seconds 0", "give a positive number"),
        ("compare iris --points few", "give 2 or more, or all"),
        ("compare iris --image 3x3 --report r.html", "a row has 4 numbers"),
        ("compare iris --report r.html --json r.html", "requested by both"),
    ];
    for (line, fact) in refused {
        bench.refuses(line, 2, fact);
    }
    assert!(bench.files().is_empty());
}

#[test]
fn a_sweep_of_neighbors_is_over_the_requested_graph() {
    let bench = Bench::new();
    bench.does("compare iris --methods isomap --graph mutual --sweep neighbors=8,12 --json swept.json -q");
    bench.does("compare iris --methods isomap --graph mutual -k 8 --json mutual.json -q");
    bench.does("compare iris --methods isomap -k 8 --json nearest.json -q");
    let scores = |file: &str, name: &str| bench.json(file)["methods"][name]["quality"].clone();
    let swept = scores("swept.json", "isomap neighbors=8");
    assert!(swept.is_object() && swept == scores("mutual.json", "isomap"), "{swept}");
    assert_ne!(swept, scores("nearest.json", "isomap"));
}

#[test]
fn animations_are_labeled_by_their_steps_and_paths_by_their_lambda() {
    let bench = Bench::new();
    bench.does("compare iris --methods tsne,umap,elastic --points 60 --lambda auto:1:4 --report page.html -q");
    let page = data(&bench.read("page.html"));
    for map in page["maps"].as_array().unwrap() {
        let labels = map["animation"]["labels"].as_array().unwrap();
        let word = if map["method"] == "elastic" { "lambda " } else { "step " };
        assert!(labels.len() > 1 && labels.iter().all(|one| one.as_str().unwrap().starts_with(word)), "{labels:?}");
    }
}

#[test]
fn a_model_is_shown_as_a_page_of_its_own() {
    let bench = Bench::new();
    bench.does("embed iris -m isomap --save iris.model -q");
    let answer = bench.does("view iris.model --labels iris:species --no-open");
    assert!(answer.err.contains("iris.html"), "{}", answer.err);
    let page = data(&bench.read("iris.html"));
    assert_eq!((page["maps"].as_array().unwrap().len(), &page["maps"][0]["id"]), (1, &"isomap".into()));
    assert_eq!(page["labels"][0]["name"], "species");
    bench.refuses("view iris.model -o iris.model --no-open", 2, "would replace the input");
    bench.does("embed digits -m pca --save digits.model -q");
    bench.does("view digits.model --labels digits:label --no-open");
    assert_eq!(data(&bench.read("digits.html"))["labels"][0]["name"], "label");
    bench.refuses("view nowhere.html", 2, "nowhere.html");
}
