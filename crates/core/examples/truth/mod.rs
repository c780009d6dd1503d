//! Data with known labels or values, and how well a map shows them; shared by the examples that compare maps.

use eigenfold::{
    Error, Index, Metric, Points, io,
    io::{Labels, ReadOptions},
};

/// The number of nearest neighbors on the map that vote.
const VOTES: usize = 5;
/// The most points for which trustworthiness is computed.
const SAMPLED: usize = 1000;

/// Known labels or values.
pub(crate) enum Truth {
    /// A class per row.
    Classes(Vec<f64>),
    /// Numbers that a map should order.
    Values(Points),
    /// Nothing.
    None,
}

/// Points and their labels or values. `:N` after the file takes N evenly spaced rows. Labels are in a file of numbers, one row
/// per row of the data; `own` is the label column of a built-in set.
pub(crate) fn read(data: &str, kind: &str, labels: &str) -> Result<(Points, Truth), Error> {
    let (file, wanted) = data.split_once(':').unwrap_or((data, ""));
    let table = io::read(file, &ReadOptions::default())?;
    let n = table.points.rows();
    let wanted = wanted.parse().unwrap_or(n).min(n);
    let rows: Vec<usize> = (0..wanted).map(|i| i * n / wanted).collect();
    let own = match table.labels {
        Some(Labels::Classes { of, .. }) => of.iter().map(|class| class.map_or(-1.0, f64::from)).collect(),
        Some(Labels::Values(values)) => values,
        None => Vec::new(),
    };
    let truth = match kind {
        "classes" if labels == "own" => Truth::Classes(rows.iter().map(|&i| own[i]).collect()),
        "classes" => {
            let file = io::read(labels, &ReadOptions::default())?.points;
            Truth::Classes(rows.iter().map(|&i| file.row(i)[0]).collect())
        }
        "values" => Truth::Values(io::read(labels, &ReadOptions::default())?.points.select(&rows)),
        _ => Truth::None,
    };
    Ok((table.points.select(&rows), truth))
}

impl Truth {
    /// The share of rows whose five nearest neighbors on the map vote for their label, or the mean R² of known values predicted
    /// by the mean of the five nearest; none if there are no labels or values.
    pub(crate) fn shown_by(&self, map: &Points) -> Result<Option<f64>, Error> {
        let n = map.rows();
        let (near, _) = Index::new(map, Metric::Euclidean)?.nearest(map, VOTES + 1)?;
        let around = |i: usize| -> Vec<usize> {
            let list = near[(VOTES + 1) * i..(VOTES + 1) * (i + 1)].iter().map(|&j| j as usize);
            list.filter(|&j| j != i).take(VOTES).collect()
        };
        Ok(match self {
            Truth::Classes(of) => {
                let right = |&i: &usize| {
                    let list = around(i);
                    let votes = |j: usize| list.iter().filter(|&&other| of[other] == of[j]).count();
                    let most = list.iter().map(|&j| votes(j)).max();
                    // Among classes with equal votes, the class of the nearest neighbor wins.
                    list.iter().find(|&&j| Some(votes(j)) == most).is_some_and(|&j| of[j] == of[i])
                };
                Some((0..n).filter(right).count() as f64 / n as f64)
            }
            Truth::Values(values) => {
                let means = values.column_means();
                let r2 = |q: usize| {
                    let guess = |i: usize| around(i).iter().map(|&j| values.row(j)[q]).sum::<f64>() / VOTES as f64;
                    let wrong: f64 = (0..n).map(|i| (values.row(i)[q] - guess(i)).powi(2)).sum();
                    let total: f64 = (0..n).map(|i| (values.row(i)[q] - means[q]).powi(2)).sum();
                    1.0 - wrong / total
                };
                Some((0..values.cols()).map(r2).sum::<f64>() / values.cols() as f64)
            }
            Truth::None => None,
        })
    }
}

/// Venna and Kaski's trustworthiness for ten neighbors: how rarely the nearest on the map are far in the data. More than a
/// thousand points are sampled evenly.
pub(crate) fn trust(points: &Points, map: &Points) -> Result<f64, Error> {
    let n = points.rows();
    let k = 10.min(n / 4);
    let sampled: Vec<usize> = (0..n.min(SAMPLED)).map(|i| i * n / n.min(SAMPLED)).collect();
    let (near, _) = Index::new(map, Metric::Euclidean)?.nearest(&map.select(&sampled), k + 1)?;
    let mut penalty = 0.0;
    for (at, &i) in sampled.iter().enumerate() {
        let distances: Vec<f64> = (0..n).map(|j| Metric::Euclidean.distance(points.row(i), points.row(j))).collect();
        let mut order: Vec<f64> = (0..n).filter(|&j| j != i).map(|j| distances[j]).collect();
        order.sort_unstable_by(f64::total_cmp);
        for &j in near[(k + 1) * at..(k + 1) * (at + 1)].iter().filter(|&&j| j as usize != i).take(k) {
            let rank = order.partition_point(|&d| d < distances[j as usize]);
            penalty += (rank as f64 + 1.0 - k as f64).max(0.0);
        }
    }
    let (n, k) = (n as f64, k as f64);
    Ok(1.0 - penalty / sampled.len() as f64 * 2.0 / (k * (2.0 * n - 3.0 * k - 1.0)))
}
