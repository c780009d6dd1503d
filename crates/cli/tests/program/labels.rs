//! What goes with the points: labels from a file, missing labels, kept columns.

use crate::{Bench, cloud, coordinates, is_png};

/// Twelve rows with an id, three numbers, and a kind that two rows do not have.
fn table() -> String {
    let kind = |i: usize| ["<b>", "a", "", "NA"][if i < 10 { i % 2 } else { i - 8 }];
    let rows = cloud(12, 3);
    let rows = rows.lines().enumerate().map(|(i, row)| format!("{:03},{row},{}\n", i * i, kind(i)));
    format!("id,x,y,z,kind\n{}", rows.collect::<String>())
}

#[test]
fn missing_labels_are_drawn_grey_and_counted() {
    let bench = Bench::new();
    bench.write("t.csv", table());
    let answer = bench.does("embed t.csv --label kind --ignore id -m pca -o m.csv --plot m.svg --json m.json");
    assert!(answer.err.contains("2 of 12 rows have no label in \"kind\""), "{}", answer.err);
    assert!(bench.read("m.svg").contains("no label (2)"));
    assert!(bench.json("m.json")["warnings"].to_string().contains("2 of 12 rows"));
    for dims in ["1", "3"] {
        bench.does(&format!("embed t.csv --label kind --ignore id -m pca -d {dims} -q --plot m{dims}.png"));
        assert!(is_png(&bench.path(&format!("m{dims}.png"))));
    }
    bench.does("embed t.csv --label kind --ignore id -m umap --supervision 0.5 -k 4 -q -o u.csv");
}

#[test]
fn labels_come_from_another_file() {
    let bench = Bench::new();
    bench.write("t.csv", cloud(12, 3)).write("of:each.csv", table());
    // Three files of one column: without a name, with one, and as an array.
    bench.write("bare.txt", "b\n".repeat(5) + &"a\n".repeat(7));
    bench.write("named.csv", "sort\n".to_string() + &"1\n".repeat(11) + "null\n");
    bench.does("sample swiss-roll -n 12 -q -o other.csv --truth truth.npy");
    let drawn = |labels: &str| {
        bench.does(&format!("embed t.csv --labels {labels} -m pca -q --plot m.svg"));
        bench.read("m.svg")
    };
    for (labels, texts) in [
        ("of:each.csv:kind", [">kind<", ">&lt;b&gt;<", "no label (2)"]),
        ("bare.txt", [">label<", ">a<", ">b<"]),
        ("named.csv", [">sort<", ">1<", "no label (1)"]),
        ("of:each.csv:2", [">x<", ">0.4<", ">0.6<"]),
        ("truth.npy:1", [">label<", ">dimension 1<", ">dimension 2<"]),
    ] {
        let svg = drawn(labels);
        for text in texts {
            assert!(svg.contains(text), "{labels}: {text}\n{svg}");
        }
    }
    for (flags, fact) in [
        (
            "--labels of:each.csv",
            "it has 5 columns and one is wanted; use of:each.csv:COLUMN with one of \"id\", \"x\"",
        ),
        (
            "--labels of:each.csv:color",
            "column \"color\" was not found; use of:each.csv:COLUMN with one of \"id\", \"x\"",
        ),
        ("--labels none.csv:a", "there is no such file"),
        ("--labels iris:species", "it has 150 labels for 12 points; give one for every row"),
        ("--labels bare.txt --label 1", "cannot be used with"),
    ] {
        bench.refuses(&format!("embed t.csv -m pca -q -o n.csv {flags}"), 2, fact);
    }
    bench.refuses("embed t.csv -m pca -q --labels bare.txt -o bare.txt", 2, "would replace the input");
}

/// An archive that is stored as it is: a file for each array of doubles, and their list at the end.
fn npz(arrays: &[(&str, &[usize], Vec<f64>)]) -> Vec<u8> {
    let (mut bytes, mut list) = (Vec::new(), Vec::new());
    for (name, shape, values) in arrays {
        let shape: String = shape.iter().map(|size| format!("{size}, ")).collect();
        let mut head = format!("{{'descr': '<f8', 'fortran_order': False, 'shape': ({shape}), }}");
        head += &" ".repeat(63 - (10 + head.len()) % 64);
        head.push('\n');
        let mut array = b"\x93NUMPY\x01\x00".to_vec();
        array.extend((head.len() as u16).to_le_bytes());
        array.extend(head.as_bytes());
        array.extend(values.iter().flat_map(|value| value.to_le_bytes()));
        let checked = array.iter().fold(!0u32, |crc, &byte| {
            (0..8).fold(crc ^ u32::from(byte), |crc, _| (crc >> 1) ^ (0xEDB8_8320 & (crc & 1).wrapping_neg()))
        });
        let (place, size, file) = (bytes.len() as u32, array.len() as u32, format!("{name}.npy"));
        let mut common = [20u16, 0, 0, 0, 33].map(u16::to_le_bytes).concat();
        common.extend([!checked, size, size].map(u32::to_le_bytes).concat());
        common.extend([file.len() as u16, 0].map(u16::to_le_bytes).concat());
        list.extend(b"PK\x01\x02\x14\x00".iter().chain(&common));
        list.extend([[0u8; 10].as_slice(), &place.to_le_bytes(), file.as_bytes()].concat());
        bytes.extend([b"PK\x03\x04".as_slice(), &common, file.as_bytes(), &array].concat());
    }
    let (count, place, size) = (arrays.len() as u16, bytes.len() as u32, list.len() as u32);
    bytes.extend(list);
    bytes.extend(b"PK\x05\x06\0\0\0\0".iter().chain(&[count, count].map(u16::to_le_bytes).concat()));
    bytes.extend([size.to_le_bytes(), place.to_le_bytes()].concat());
    bytes.extend([0, 0]);
    bytes
}

#[test]
fn labels_are_an_array_of_an_archive() {
    let bench = Bench::new();
    let points: Vec<f64> = (0..36).map(|at| f64::from(at * at % 17)).collect();
    let kinds: Vec<f64> = (0..12).map(|at| f64::from(at % 3)).collect();
    bench.write("two.npz", npz(&[("X", &[12, 3], points), ("y", &[12], kinds.clone())]));
    bench.write("one.npz", npz(&[("y", &[12, 1], kinds)]));
    for labels in ["two.npz:y", "one.npz", "one.npz:y", "one.npz:1"] {
        bench.does(&format!("embed two.npz:X --labels {labels} -m pca -q --plot m.svg"));
        assert!(bench.read("m.svg").contains(">2<"), "{labels}");
    }
    bench.refuses(
        "embed two.npz:X --labels two.npz:z -m pca -q -o m.csv",
        2,
        "it does not hold the array \"z\"; use one of",
    );
}

#[test]
fn kept_columns_are_written_beside_the_coordinates() {
    let bench = Bench::new();
    bench.write("t.csv", table());
    bench.does("embed t.csv --label kind --keep id,kind -m pca -q -o m.csv --save m --plot m.png");
    let map = bench.read("m.csv");
    assert!(map.starts_with("y1,y2,id,kind\n"), "{map}");
    assert!(map.contains(",000,<b>\n") && map.contains(",001,a\n") && map.ends_with(",121,NA\n"), "{map}");
    bench.does("transform m t.csv --label kind --keep id --keep kind -q -o again.parquet");
    let sure = bench.does("embed again.parquet --ignore y1 --label kind --keep id -m pca -d 1 -q");
    assert!(sure.out.starts_with("y1,id\n") && sure.out.contains(",000\n"), "{}", sure.out);
    // A map with more than coordinates is still a map.
    bench.does("reconstruct m m.csv -q -o back.csv");
    assert_eq!(coordinates(&bench.read("back.csv"))[0].len(), 3);
    bench.does("quality t.csv --ignore id --label kind m.csv --starts one -q");
    bench.does("embed t.csv --ignore id --label kind -m pca -q -o n.csv --align m.csv");
    bench.refuses("embed t.csv --keep id,kind -m pca -q -o m.npy", 2, "no other columns; write .csv");
    bench.refuses("transform m t.csv --keep id,kind -q -o m.npy", 2, "no other columns; write .csv");
    bench.refuses(
        "embed t.csv --keep id,kind,hue -m pca -q -o n.csv",
        2,
        "column \"hue\" was not found; use --keep with",
    );
    bench.refuses("embed t.csv --keep kind,id,1 -m pca -q -o n.csv", 2, "--keep id would be in the output twice");
}

#[test]
fn components_kept_apart_have_a_column() {
    let bench = Bench::new();
    let near = cloud(20, 3);
    let far: String = cloud(9, 3).lines().map(|row| format!("9{row}\n")).collect();
    bench.write("t.csv", far + &near);
    bench.does("embed t.csv -m isomap -k 4 --disconnected separate -q -o m.csv");
    let map = bench.read("m.csv");
    assert!(map.starts_with("y1,y2,component\n"), "{map}");
    let components: Vec<f64> = coordinates(&map).iter().map(|row| row[2]).collect();
    let size = |component: f64| components.iter().filter(|&&other| other == component).count();
    assert_eq!(size(components[0]), 9);
    assert!(
        components[..9].iter().all(|&component| component == components[0])
            && components[9..].iter().all(|&component| component != components[0])
    );
    // The largest comes first.
    assert!(components.iter().all(|&component| size(component) <= size(1.0)), "{components:?}");
    bench.does("embed t.csv -m isomap -k 4 --disconnected separate -q -o m.npy");
}

/// `sample` writes the column under this name, and so it must be found in the sets themselves.
#[test]
fn the_label_column_of_a_built_in_set_is_label() {
    let bench = Bench::new();
    for set in ["digits", "iris"] {
        bench.does(&format!("embed {set} -m pca -q -o own.csv --save {set}.model"));
        bench.does(&format!("embed {set} --label label -m pca -q -o named.csv"));
        assert_eq!(bench.read("own.csv"), bench.read("named.csv"), "{set}");
        bench.does(&format!("view {set}.model --labels {set}:label --no-open -q -o {set}.html"));
        bench.does(&format!("sample {set} -q -o written.csv"));
        assert!(bench.read("written.csv").lines().next().unwrap().ends_with(",label"), "{set}");
    }
    bench.does("embed iris --keep species -m pca -q -o kept.csv");
    let said = "column \"digit\" was not found; use --label with one of \"pixel_0_0\"";
    let message = bench.refuses("embed digits --label digit -m pca -o a.csv", 2, said);
    assert!(message.contains(", \"label\", and "), "{message}");
    let message = bench.refuses("view digits.model --labels digits:digit --no-open -o a.html", 2, "digits:COLUMN");
    assert!(message.contains(", \"label\", and "), "{message}");
}
