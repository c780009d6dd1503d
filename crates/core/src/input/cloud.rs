//! A few points relative to one of them or to their mean: rows, or inner products if only distances are known.

use eigenfold_graph::points::Points;
use eigenfold_linalg::dense::small::{add_outer, symmetric_eigen};
use std::borrow::Cow;

/// A principal direction below this fraction of the longest one is rounding (a ratio of lengths).
const FLAT: f64 = 1e-7;

/// A few points about an origin: their rows, or inner products if only distances are known.
pub(crate) enum Cloud {
    Rows(Vec<f64>),
    Gram(Vec<f64>),
}

impl Cloud {
    /// The inner products of its `size` points.
    pub(crate) fn gram(&self, size: usize) -> Cow<'_, [f64]> {
        match self {
            Cloud::Rows(rows) => Cow::Owned(products(rows, size)),
            Cloud::Gram(gram) => Cow::Borrowed(gram),
        }
    }

    /// The first principal coordinates of its `size` points, longest first, each of length one and with the square of
    /// its true length; those that are rounding relative to the longest are left out.
    pub(crate) fn principal(&self, size: usize, dims: usize) -> Vec<(f64, Vec<f64>)> {
        let (values, vectors) = match self {
            // By the smaller of the two matrices of second moments.
            Cloud::Rows(rows) if rows.len() / size < size => {
                let p = rows.len() / size;
                let mut moments = vec![0.0; p * p];
                add_outer(rows, p, 1.0, &mut moments);
                let (values, axes) = symmetric_eigen(&mut moments, p);
                let mut coordinates = Vec::with_capacity(dims.min(p) * size);
                for (axis, value) in axes.chunks_exact(p).zip(&values).take(dims) {
                    let length = value.sqrt();
                    let along = |x: &[f64]| x.iter().zip(axis).map(|(x, u)| x * u).sum::<f64>() / length;
                    coordinates.extend(rows.chunks_exact(p).map(along));
                }
                (values, coordinates)
            }
            cloud => symmetric_eigen(&mut cloud.gram(size).into_owned(), size),
        };
        let longest = values[0];
        let pairs = values.into_iter().zip(vectors.chunks_exact(size)).take(dims);
        let pairs = pairs.take_while(|&(square, _)| square > FLAT * FLAT * longest);
        pairs.map(|(square, coordinate)| (square, coordinate.to_vec())).collect()
    }
}

/// The members' rows minus `from`, one after the other.
pub(crate) fn differences(points: &Points, members: &[u32], from: &[f64]) -> Vec<f64> {
    let (mut rows, mut buffer) = (Vec::with_capacity(members.len() * from.len()), Vec::new());
    for &j in members {
        rows.extend(points.read(j as usize, &mut buffer).iter().zip(from).map(|(x, o)| x - o));
    }
    rows
}

/// The inner products of `count` vectors stored one after the other.
pub(crate) fn products(vectors: &[f64], count: usize) -> Vec<f64> {
    let p = vectors.len() / count;
    let mut gram = vec![0.0; count * count];
    pulp::Arch::new().dispatch(|| {
        for a in 0..count {
            for b in 0..=a {
                let (x, y) = (&vectors[a * p..(a + 1) * p], &vectors[b * p..(b + 1) * p]);
                let product = x.iter().zip(y).map(|(x, y)| x * y).sum();
                gram[a * count + b] = product;
                gram[b * count + a] = product;
            }
        }
    });
    gram
}

/// Subtracts the mean row from every row.
pub(crate) fn center(rows: &mut [f64], count: usize) {
    let p = rows.len() / count;
    for f in 0..p {
        let mean = (0..count).map(|a| rows[a * p + f]).sum::<f64>() / count as f64;
        (0..count).for_each(|a| rows[a * p + f] -= mean);
    }
}
