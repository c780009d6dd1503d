//! Pictures of small and large embeddings; `EIGENFOLD_PICTURES=DIR cargo test` keeps them to look at.

use super::*;

/// A number from 0 to 1 that depends on `i` alone.
fn noise(i: usize, salt: u64) -> f64 {
    let mut h = (i as u64 ^ salt.wrapping_mul(0x9e37_79b9_7f4a_7c15)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    h ^= h >> 31;
    h = h.wrapping_mul(0x94d0_49bb_1331_11eb);
    ((h ^ (h >> 29)) >> 11) as f64 / (1u64 << 53) as f64
}

fn blob(i: usize, salt: u64) -> f64 {
    (0..6).map(|t| noise(i, salt * 17 + t)).sum::<f64>() - 3.0
}

fn clusters(n: usize, dims: usize, count: usize) -> (Points, Coloring) {
    let values = (0..n)
        .flat_map(|i| {
            let angle = (i % count) as f64 * std::f64::consts::TAU / count as f64;
            (0..dims)
                .map(move |d| 0.4 * blob(i, d as u64) + 2.0 * (angle * (1.0 + d as f64 / 2.0) + d as f64 * 1.57).cos())
        })
        .collect();
    let names = (0..count).map(|c| format!("class {c}")).collect();
    let of = (0..n).map(|i| Some((i % count) as u32)).collect();
    (Points::new(n, dims, values).unwrap(), Coloring::Classes { title: "label".into(), names, of })
}

fn kept(name: &str, picture: &Picture) {
    for (format, extension) in [(Format::Png, "png"), (Format::Svg, "svg")] {
        let bytes = picture.rendered(format).unwrap();
        assert!(bytes.len() > 1000);
        if let Ok(directory) = std::env::var("EIGENFOLD_PICTURES") {
            std::fs::write(Path::new(&directory).join(format!("{name}.{extension}")), bytes).unwrap();
        }
    }
}

fn picture<'a>(points: &'a Points, coloring: &'a Coloring, eigenvalues: &'a [f64]) -> Picture<'a> {
    let subtitle = "1,797 points · 64 features · k = 10 · landmarks 500";
    let title = "Digits, Isomap";
    let (ringed, names, images, shade) = (None, None, None, None);
    Picture {
        points,
        behind: 0,
        coloring,
        ringed,
        names,
        images,
        shade,
        eigenvalues,
        title,
        subtitle,
        size: None,
        theme: Theme::Light,
    }
}

#[test]
fn every_number_of_dimensions_and_coloring_has_a_picture() {
    let spectrum = [9.1, 7.4, 3.0, 2.2, 1.6, 1.2, 0.9, 0.5, 0.2, -0.3];
    for dims in [1, 2, 3, 4, 7] {
        for (count, n) in [(3, 150), (10, 1797), (26, 1500), (40, 800)] {
            let (points, classes) = clusters(n, dims, count);
            kept(&format!("classes{count}-{dims}d"), &picture(&points, &classes, &spectrum));
        }
        let (points, _) = clusters(2000, dims, 7);
        let values = (0..2000).map(|i| points.row(i)[0] * 3.0 + 0.2 * blob(i, 5)).collect();
        let values = Coloring::Values { title: "position along the roll".into(), values };
        kept(&format!("values-{dims}d"), &picture(&points, &values, &spectrum[..3]));
        kept(&format!("one-{dims}d"), &picture(&points, &Coloring::One, &[]));
    }
}

fn svg(picture: &Picture) -> String {
    String::from_utf8(picture.rendered(Format::Svg).unwrap()).unwrap()
}

/// The width and height that the first element has.
fn size(svg: &str) -> (f64, f64) {
    let after =
        |name: &str| svg.split(&format!("{name}=\"")).nth(1).unwrap().split('"').next().unwrap().parse().unwrap();
    (after("width"), after("height"))
}

#[test]
fn axes_are_dimensions() {
    for (dims, names) in [(1, 1), (2, 2), (3, 3), (5, 5)] {
        let (points, classes) = clusters(150, dims, 3);
        let svg = svg(&picture(&points, &classes, &[]));
        assert!((1..=names).all(|q| svg.contains(&format!(">dimension {q}<"))), "{dims}");
        assert!(!svg.contains(">y1<"), "{dims}");
    }
}

#[test]
fn a_picture_has_the_shape_of_its_embedding() {
    let strip = |width: f64, height: f64| {
        let values = (0..300).flat_map(|i| [width * noise(i, 1), height * noise(i, 2)]).collect();
        Points::new(300, 2, values).unwrap()
    };
    let shape = |points: &Points, size: Option<(f64, f64)>| {
        self::size(&svg(&Picture { size, ..picture(points, &Coloring::One, &[]) }))
    };
    let (wide, square, tall) =
        (shape(&strip(4.0, 1.0), None), shape(&strip(1.0, 1.0), None), shape(&strip(1.0, 4.0), None));
    assert!(wide.0 == 1000.0 && wide.1 < 400.0, "{wide:?}");
    assert!((square.0 - square.1).abs() < 80.0, "{square:?}");
    assert!(tall.0 < 450.0 && tall.1 > 500.0, "{tall:?}");
    assert_eq!(shape(&strip(4.0, 1.0), Some((500.0, 400.0))), (500.0, 400.0));
    // A legend is never cut.
    let (points, _) = clusters(300, 2, 15);
    let flat = Points::new(300, 2, points.values().chunks(2).flat_map(|p| [p[0], 0.1 * p[1]]).collect()).unwrap();
    let (_, classes) = clusters(300, 2, 15);
    let svg = svg(&picture(&flat, &classes, &[3.0, 2.0, 1.0]));
    assert!((0..15).all(|class| svg.contains(&format!(">class {class}<"))), "{svg}");
}

#[test]
fn classes_are_named_on_their_points_and_listed_only_where_needed() {
    let (points, classes) = clusters(1000, 2, 6);
    let labeled = svg(&picture(&points, &classes, &[]));
    assert!(
        (0..6).all(|class| labeled.matches(&format!(">class {class}<")).count() == 1) && !labeled.contains(">label<")
    );
    assert_eq!(labeled.matches("paint-order").count(), 6, "{labeled}");
    let listed = svg(&picture(&points, &classes, &[9.0, 7.0, 3.0, 1.0]));
    assert!(listed.contains(">label<") && listed.matches(">class 2<").count() == 2);
    let names: Vec<String> = (0..1000).map(|i| format!("p{i}")).collect();
    let named = svg(&Picture { names: Some(&names), ..picture(&points, &classes, &[]) });
    assert!(named.contains(">label<") && !named.contains("paint-order"));
}

#[test]
fn dark_paper_has_its_own_colors() {
    let (points, classes) = clusters(200, 2, 3);
    let dark = svg(&Picture { theme: Theme::Dark, ..picture(&points, &classes, &[3.0, 2.0, 1.0]) });
    let light = svg(&picture(&points, &classes, &[3.0, 2.0, 1.0]));
    for (svg, theme, other) in [(&light, Theme::Light, Theme::Dark), (&dark, Theme::Dark, Theme::Light)] {
        let (own, foreign) = (theme.colors(), other.colors());
        assert!(svg.contains(&own.paper.hex()) && svg.contains(&own.ink.hex()) && svg.contains(&own.class(1).hex()));
        assert!(!svg.contains(&foreign.ink.hex()) && !svg.contains(&foreign.class(1).hex()));
    }
    for format in [Format::Png, Format::Pdf] {
        let bytes = |theme: Theme| Picture { theme, ..picture(&points, &classes, &[]) }.rendered(format).unwrap();
        assert_ne!(bytes(Theme::Light), bytes(Theme::Dark));
    }
}

#[test]
fn degenerate_embeddings_have_a_picture() {
    let same = Points::new(3, 2, vec![1.0; 6]).unwrap();
    kept("same", &picture(&same, &Coloring::One, &[0.0, 0.0]));
    let single = Points::new(1, 1, vec![-1e59]).unwrap();
    kept("single", &picture(&single, &Coloring::One, &[]));
    let thin = Points::from_rows(&[[0.0, 0.0], [1e6, 1e-6], [2e6, 3e-6]]).unwrap();
    kept("thin", &picture(&thin, &Coloring::One, &[1e-9, -2e9]));
}

#[test]
fn the_pictures_of_a_hundred_thousand_points_are_small() {
    let (points, classes) = clusters(100_000, 2, 10);
    let picture = picture(&points, &classes, &[3.0, 2.0, 1.0]);
    kept("large", &picture);
    let png = picture.rendered(Format::Png).unwrap();
    assert!(png.len() < 3_000_000, "{} bytes", png.len());
    assert!(picture.rendered(Format::Svg).unwrap().len() < 2_500_000);
}

#[test]
fn other_kinds_of_picture_are_refused_with_the_way_out() {
    assert_eq!(Format::of(Path::new("a/B.PNG")).unwrap(), Format::Png);
    let message = Format::of(Path::new("map.jpg")).unwrap_err().to_string();
    assert_eq!(message, "map.jpg: no picture is written as .jpg; use .png, .svg or .pdf");
}

#[test]
fn the_curve_of_neighbors_has_a_picture_with_the_chosen_one_marked() {
    let tried = [(4, 0.06, 2), (5, 0.044, 1), (8, 0.028, 1), (12, 0.0196, 1), (20, 0.335, 1), (50, 0.45, 1)]
        .map(|(k, value, components)| eigenfold::TriedNeighbors { k, value: Some(value), components, converged: true });
    let choice = eigenfold::NeighborsChoice { chosen: 12, reason: "the least error".into(), tried: tried.to_vec() };
    let curve = Curve {
        choice: &choice,
        title: "Neighbors tried for isomap of roll.csv",
        subtitle: "1,000 points",
        theme: Theme::Light,
    };
    let svg = String::from_utf8(curve.rendered(Format::Svg).unwrap()).unwrap();
    for text in ["k = 12 chosen", "neighbors k", "neighbor_ratio", ">50<"] {
        assert!(svg.contains(text), "{text}");
    }
    let png = curve.rendered(Format::Png).unwrap();
    if let Ok(directory) = std::env::var("EIGENFOLD_PICTURES") {
        std::fs::write(Path::new(&directory).join("neighbors.png"), png).unwrap();
    }
}

#[test]
fn a_dimension_is_drawn_at_every_scale_even_if_there_is_none() {
    use eigenfold::dimension::Dimension;
    let (points, _) = clusters(300, 2, 1);
    let found = Dimension { global: false, ..Dimension::default() }.of(&points, &eigenfold::Silent).unwrap();
    for scales in [found.scales.as_slice(), &found.scales[..1], &[]] {
        let curve = ScaleCurve {
            scales,
            distinct: 300,
            dims: 2,
            ess: Some(2.1),
            title: "t",
            subtitle: "s",
            theme: Theme::Light,
        };
        let text = String::from_utf8(curve.rendered(Format::Svg).unwrap()).unwrap();
        assert!(text.contains("2 recommended") && !text.contains("NaN"), "{text}");
        assert!(curve.rendered(Format::Png).unwrap().len() > 1000);
    }
}

#[test]
fn points_beyond_the_edge_are_counted_and_their_arrows_drawn() {
    let (points, classes) = clusters(200, 2, 3);
    let mut values = points.values().to_vec();
    (values[0], values[7], values[100]) = (1e9, -3e4, 1e9);
    let points = Points::new(200, 2, values).unwrap();
    let far = picture(&points, &classes, &[]);
    kept("far", &far);
    let svg = String::from_utf8(far.rendered(Format::Svg).unwrap()).unwrap();
    assert!(
        svg.contains("3 points lie beyond the edge") && svg.contains(">2 to 1.00e9<") && svg.contains(">−30000<"),
        "{svg}"
    );
    let (points, _) = clusters(200, 2, 3);
    let near = String::from_utf8(picture(&points, &classes, &[]).rendered(Format::Svg).unwrap()).unwrap();
    assert!(!near.contains("beyond"), "{near}");
}

#[test]
fn names_images_shade_rings_and_points_behind_are_drawn() {
    let (points, classes) = clusters(60, 2, 4);
    let names: Vec<String> =
        (0..40).map(|i| ["<a & b>", "\u{1}\u{1b}[31m", "😀", "x"][i % 4].repeat(1 + i * (i % 2))).collect();
    let rows = Points::new(40, 12, (0..480).map(|i| f64::from(i % 12)).collect()).unwrap();
    let deviations = |places: &Points| Ok((0..places.rows()).map(|i| places.row(i)[0].abs()).collect());
    let all = Picture {
        behind: 20,
        names: Some(&names),
        images: Some(Images { rows: &rows, width: 3, height: 4 }),
        shade: Some(Shade { places: 500, deviations: &deviations }),
        ringed: Some((&[25, 30], "far")),
        size: Some((640.0, 480.0)),
        ..picture(&points, &classes, &[2.0, 1.0])
    };
    kept("all", &all);
    let svg = String::from_utf8(all.rendered(Format::Svg).unwrap()).unwrap();
    for text in [
        "names of ",
        "images of ",
        "training points (20)",
        "far (2)",
        "uncertainty of the inverse transform",
        "data:image/png",
    ] {
        assert!(svg.contains(text), "{text}");
    }
    assert!(svg.contains("width=\"640\" height=\"480\"") && svg.contains("&lt;a &amp; b&gt;"));
    for dims in [1, 3, 5] {
        let (points, classes) = clusters(60, dims, 4);
        let behind = Picture { behind: 20, ..picture(&points, &classes, &[]) };
        kept(&format!("behind-{dims}d"), &behind);
        let one = Picture { coloring: &Coloring::One, ..behind };
        kept(&format!("behind-one-{dims}d"), &one);
    }
}
