//! What `--plot` draws of data that a user may have.

use crate::{Bench, cloud, is_png};
use serde_json::json;

/// Thirty rows of four numbers with hostile names and 28 classes.
fn table() -> String {
    let name = |i: usize| match i {
        0 => "<b>&amp;\"\"</b>".to_string(),
        1 => "\u{1b}[31mred\u{202e}".to_string(),
        2 => "😀 数".to_string(),
        3 => "long ".repeat(60),
        i => format!("point {i}"),
    };
    let rows = cloud(30, 4);
    let row = |(i, row): (usize, &str)| format!("\"{}\",{row},class {}\n", name(i), i.min(27));
    format!("name,a,b,c,d,kind\n{}", rows.lines().enumerate().map(row).collect::<String>())
}

#[test]
fn names_classes_images_and_shade_are_drawn() {
    let bench = Bench::new();
    bench.write("t.csv", table());
    let line = "embed t.csv --names name --label kind -m pca -q --size 900x700";
    bench.does(&format!("{line} --image 2x2 --shade --plot all.svg"));
    bench.does(&format!("{line} --image 2x2 --shade --plot all.png"));
    assert!(is_png(&bench.path("all.png")));
    let svg = bench.read("all.svg");
    for text in [
        "width=\"900\" height=\"700\"",
        "3 other classes",
        "images of ",
        "names of ",
        "uncertainty of the inverse transform",
    ] {
        assert!(svg.contains(text), "{text}\n{svg}");
    }
    assert!(!svg.contains("<b>") && svg.contains("&lt;b&gt;&amp;amp;"), "{svg}");
    assert!(svg.chars().all(|c| (!c.is_control() || c == '\n') && c != '\u{202e}'));
    for dims in [1, 3] {
        bench.does(&format!("{line} -d {dims} --image 2x2 --plot some.svg"));
    }
    bench.write("animals.txt", "cat\ndog\n".repeat(15));
    bench.does("embed t.csv --ignore name --label kind -m pca -q --names animals.txt --plot animals.svg");
    assert!(bench.read("animals.svg").contains(">cat<"));
    bench.does("embed t.csv --ignore name --label kind -m pca -d 4 -q --plot pairs.svg");
    assert!(bench.read("pairs.svg").contains("all pairs of 4 coordinates"));
}

#[test]
fn titles_are_words_and_paper_is_light_or_dark() {
    let bench = Bench::new();
    bench.does("embed iris -m isomap -k 12 -q --plot light.svg");
    bench.does("embed iris -m isomap -k 12 -q --theme dark --plot dark.svg");
    for (name, paper) in [("light.svg", "#ffffff"), ("dark.svg", "#191a1e")] {
        let svg = bench.read(name);
        for text in
            [">Iris, Isomap<", ">150 points · 4 features · k = 12<", ">dimension 1<", ">dimension 2<", ">setosa<"]
        {
            assert!(svg.contains(text), "{text}\n{svg}");
        }
        assert!(svg.contains(&format!("height=\"{}\" fill=\"{paper}\"", height(&svg))), "{svg}");
        assert!(!svg.contains(">y1<") && !svg.contains("disconnected"), "{svg}");
    }
    bench.does("embed digits -m smacof --max-iterations 5 --tolerance 0.1 -q --plot few.svg");
    let svg = bench.read("few.svg");
    assert!(svg.contains(">1,797 points · 64 features<"), "{svg}");
}

/// What the first element says of the height.
fn height(svg: &str) -> &str {
    svg.split("height=\"").nth(1).and_then(|rest| rest.split('"').next()).unwrap_or("")
}

#[test]
fn maps_that_are_hard_to_draw_are_drawn() {
    let bench = Bench::new();
    let far = cloud(60, 2) + "1e9,0.5\n0.5,-1e9\n";
    bench.write("two.csv", "1,2\n3,5\n").write("equal.csv", "1,2\n".repeat(5)).write("far.csv", far);
    bench.write("huge.csv", cloud(12, 2).replace(',', "e58,").replace('\n', "e58\n"));
    for (name, flags) in [("two", "-m pca -d 1"), ("two", "-m mds -d 1"), ("far", "-m pca"), ("huge", "-m pca --shade")]
    {
        bench.does(&format!("embed {name}.csv --header no -q --plot {name}.svg {flags}"));
        let svg = bench.read(&format!("{name}.svg"));
        assert!(!svg.contains("NaN") && !svg.contains("inf"), "{svg}");
    }
    assert!(bench.read("far.svg").contains("2 points lie beyond the edge"));
    let equal = bench.run("embed equal.csv --header no -m pca -q --plot equal.svg");
    assert!(equal.code == 0 || equal.err.contains("; "), "{}", equal.err);
}

#[test]
fn what_cannot_be_drawn_is_refused_before_the_work() {
    let bench = Bench::new();
    bench.write("t.csv", table()).write("x.csv", cloud(20, 4));
    for (line, fact) in [
        ("embed x.csv -q --image 2x2 -o m.csv", "--image is for the picture; add --plot FILE"),
        ("embed x.csv -q --theme dark -o m.csv", "--theme is for the picture; add --plot FILE"),
        ("embed x.csv -q --shade -o m.csv", "--shade is for the picture; add --plot FILE"),
        ("embed t.csv -q --names name --ignore kind -o m.csv", "--names is for the picture"),
        ("embed x.csv -q --image 28x28 --plot m.png", "--image 28x28 are 784 pixels, and a row has 4 numbers"),
        ("embed x.csv -q --image 28 --plot m.png", "this is not the size of an image"),
        ("embed x.csv -q --size 10x10 --plot m.png", "use 400x300 to 4000x4000"),
        ("embed x.csv -q --shade -d 3 --plot m.png", "--shade is drawn behind two coordinates"),
        ("embed x.csv -q --image 2x2 -d 4 -m pca --plot m.png", "--image finds no room on the pairs of 4 coordinates"),
        ("embed x.csv -q --shade --align x.csv --plot m.png", "leave out --align"),
        ("embed t.csv -q --names hue --label kind --plot m.png", "column \"hue\" was not found"),
    ] {
        bench.refuses(line, 2, fact);
    }
}

#[test]
fn new_points_are_drawn_over_the_map_and_far_ones_are_listed() {
    let bench = Bench::new();
    bench
        .write("old.csv", cloud(80, 3))
        .write("new.csv", cloud(9, 3) + "90,90,90\n")
        .write("kinds.txt", "a\nb\n".repeat(5));
    bench.does("embed old.csv -m isomap -k 8 --save m -q");
    let answer = bench.does("transform m new.csv --labels kinds.txt -o t.csv --plot t.svg --json t.json");
    assert!(answer.err.contains("1 of 10 new points are far"), "{}", answer.err);
    let svg = bench.read("t.svg");
    for text in ["training points (80)", "far from all (1)", ">a<", ">b<", "New as new points, Isomap"] {
        assert!(svg.contains(text), "{text}\n{svg}");
    }
    let report = bench.json("t.json");
    assert_eq!((&report["far"], &report["n"], &report["training"]), (&json!([10]), &json!(10), &json!(80)));
    assert!(report["warnings"].to_string().contains("far from all training points"), "{report}");
    bench.does("transform m new.csv -q -o t.csv --plot t.png --size 500x400");
    assert!(is_png(&bench.path("t.png")));
}
