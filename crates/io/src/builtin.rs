//! The built-in data sets, read through the same readers as any file (`data/README.md` names their sources).

use crate::columns::Want;
use crate::sheet::Sheet;
use crate::text::csv;
use crate::{ReadOptions, npy};
use eigenfold_linalg::error::Result;
use std::path::Path;

/// The names that [`crate::read`] knows.
pub(super) const NAMES: [&str; 2] = ["digits", "iris"];

/// 1797 x 65 bytes: 8 x 8 pixels from 0 to 16, row by row, and the digit as the label.
const DIGITS: &[u8] = include_bytes!("../data/digits.npy");

/// 150 flowers: four lengths in centimeters, and the species.
const IRIS: &[u8] = include_bytes!("../data/iris.csv");

/// The label column of every built-in set, and what that of `iris` is called elsewhere.
const LABEL: &str = "label";
const SPECIES: &str = "species";

/// The built-in set of this name, labeled by its own label column unless `options` name another.
pub(super) fn read(name: &str, options: &ReadOptions, want: Want) -> Option<Result<Sheet>> {
    let own = |column: &String| if name == "iris" && column == SPECIES { LABEL.into() } else { column.clone() };
    let all = |columns: &[String]| columns.iter().map(own).collect::<Vec<String>>();
    let (ignore, keep, one_hot) = (all(&options.ignore), all(&options.keep), all(&options.one_hot));
    let unless_ignored = || (!ignore.iter().any(|column| column == LABEL)).then(|| LABEL.into());
    let label = options.label.as_ref().map(own).or_else(unless_ignored);
    let (like, vector, na, missing) =
        (options.like.clone(), options.vector.clone(), options.na.clone(), options.missing);
    let options = ReadOptions { label, ignore, keep, one_hot, like, vector, na, missing, ..ReadOptions::default() };
    let path = Path::new(name);
    match name {
        "digits" => {
            let pixels = (0..64).map(|p| format!("pixel_{}_{}", p / 8, p % 8));
            let names = pixels.chain([LABEL.to_string()]).collect();
            Some(npy::read(path, &mut &DIGITS[..], (DIGITS.len() as u64, 0), Some(names), &options, want))
        }
        "iris" => Some(csv::read(path, IRIS, None, &options, want)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Labels;

    #[test]
    fn digits_and_iris_are_the_published_sets() {
        let table = |name: &str| {
            let sheet = read(name, &ReadOptions::default(), Want::Table).unwrap().unwrap();
            sheet.table(Path::new(name), None).unwrap()
        };
        let digits = table("digits");
        assert_eq!((digits.points.rows(), digits.points.cols()), (1797, 64));
        assert_eq!(digits.points.row(0)[..8], [0.0, 0.0, 5.0, 13.0, 9.0, 1.0, 0.0, 0.0]);
        assert_eq!(digits.points.values().iter().sum::<f64>(), 561_718.0);
        let Some(Labels::Classes { names, of }) = digits.labels else { panic!("digits are classes") };
        assert_eq!((names.len(), &of[..4]), (10, &[0, 1, 2, 3].map(Some)[..]));

        let iris = table("iris");
        assert_eq!((iris.points.rows(), iris.points.cols()), (150, 4));
        let means = iris.points.column_means();
        for (mean, published) in means.iter().zip([5.843_333, 3.057_333, 3.758, 1.199_333]) {
            assert!((mean - published).abs() < 1e-6, "{means:?}");
        }
        let Some(Labels::Classes { names, .. }) = iris.labels else { panic!("species are classes") };
        assert_eq!(names, ["setosa", "versicolor", "virginica"]);
        assert!(read("flowers", &ReadOptions::default(), Want::Table).is_none());
    }
}
