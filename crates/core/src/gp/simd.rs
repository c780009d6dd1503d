//! Sums over vectors, eight entries at a time, so that they fit into one register. The caller compiles them for the
//! widest instructions ([`widest`](eigenfold_linalg::widest)).

/// Adds w[i] (y[i] − y) to every entry, and returns the sum of the added values.
#[inline(always)]
pub(crate) fn moved(weights: &[f64], here: f64, there: &[f64], away: &mut [f64]) -> f64 {
    let ((w, w_rest), (y, y_rest)) = (weights.as_chunks::<8>(), there.as_chunks::<8>());
    let (out, out_rest) = away.as_chunks_mut::<8>();
    let mut sums = [0.0; 8];
    for ((w, y), out) in w.iter().zip(y).zip(out) {
        for lane in 0..8 {
            let step = w[lane] * (y[lane] - here);
            out[lane] += step;
            sums[lane] += step;
        }
    }
    let mut sum = sums.iter().sum::<f64>();
    for ((w, y), out) in w_rest.iter().zip(y_rest).zip(out_rest) {
        let step = w * (y - here);
        *out += step;
        sum += step;
    }
    sum
}

/// The sum, eight entries at a time.
#[inline(always)]
pub(crate) fn lanes(values: &[f64]) -> f64 {
    let (eights, rest) = values.as_chunks::<8>();
    let mut sums = [0.0; 8];
    eights.iter().for_each(|eight| (0..8).for_each(|lane| sums[lane] += eight[lane]));
    sums.iter().sum::<f64>() + rest.iter().sum::<f64>()
}

/// Σ a∘b, eight entries at a time.
#[inline(always)]
pub(crate) fn dot(a: &[f64], b: &[f64]) -> f64 {
    let ((a, a_rest), (b, b_rest)) = (a.as_chunks::<8>(), b.as_chunks::<8>());
    let mut sums = [0.0; 8];
    a.iter().zip(b).for_each(|(a, b)| (0..8).for_each(|lane| sums[lane] += a[lane] * b[lane]));
    sums.iter().sum::<f64>() + a_rest.iter().zip(b_rest).map(|(a, b)| a * b).sum::<f64>()
}

/// `out ← out + factor · column`.
#[inline(always)]
pub(crate) fn add_times(out: &mut [f64], factor: f64, column: &[f64]) {
    out.iter_mut().zip(column).for_each(|(out, x)| *out += factor * x);
}

/// The squared distances from one position to others, which are stored coordinate after coordinate.
#[inline(always)]
pub(crate) fn squared_distances(columns: &[f64], place: &[f64], out: &mut [f64]) {
    out.fill(0.0);
    for (column, here) in columns.chunks_exact(out.len()).zip(place) {
        out.iter_mut().zip(column).for_each(|(out, y)| *out += (y - here) * (y - here));
    }
}
