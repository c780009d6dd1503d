//! Images that are rotated step by step, and the circle that they trace (Lawrence 2012, figure 1).
use super::fit;
use eigenfold::{Pca, Points};
use faer::Mat;
use std::f64::consts::{PI, TAU};

/// An image turned about its middle, by bilinear interpolation on a square grid that is `fine` times as fine; zero outside.
fn rotated(image: &Mat<f64>, angle: f64, size: usize, fine: f64) -> Vec<f64> {
    let (rows, cols) = (image.nrows() as isize, image.ncols() as isize);
    let at = |i: isize, j: isize| {
        if (0..rows).contains(&i) && (0..cols).contains(&j) { image[(i as usize, j as usize)] } else { 0.0 }
    };
    let (sine, cosine) = angle.sin_cos();
    let middle = (size as f64 - 1.0) / 2.0;
    let pixel = |place: usize| {
        let (down, across) = (((place / size) as f64 - middle) / fine, ((place % size) as f64 - middle) / fine);
        let y = cosine * down - sine * across + (rows - 1) as f64 / 2.0;
        let x = sine * down + cosine * across + (cols - 1) as f64 / 2.0;
        let (i, j) = (y.floor(), x.floor());
        let (v, u) = (y - i, x - j);
        let (i, j) = (i as isize, j as isize);
        (1.0 - v) * ((1.0 - u) * at(i, j) + u * at(i, j + 1)) + v * ((1.0 - u) * at(i + 1, j) + u * at(i + 1, j + 1))
    };
    (0..size * size).map(pixel).collect()
}

/// The trace of an image, rotated by every degree, in its first two principal components.
pub(crate) struct Circle {
    /// How far the radius goes from its mean, as a part of it.
    pub(crate) off: f64,
    /// How often the origin is circled.
    pub(crate) turns: f64,
    /// The smallest step of the angle as a part of the mean one; negative if one goes back.
    pub(crate) smallest: f64,
}

pub(crate) fn circle(image: &Mat<f64>, fine: usize) -> Circle {
    let size = fine * (image.nrows() as f64).hypot(image.ncols() as f64).ceil() as usize;
    let turned = |degree: i32| rotated(image, f64::from(degree).to_radians(), size, fine as f64);
    let images: Vec<f64> = (0..360).flat_map(turned).collect();
    let map = fit(Pca::default(), &Points::new(360, size * size, images).unwrap()).embedding().clone();
    let radii: Vec<f64> = (0..360).map(|i| map.row(i)[0].hypot(map.row(i)[1])).collect();
    let mean = radii.iter().sum::<f64>() / 360.0;
    let off = radii.iter().map(|radius| (radius / mean - 1.0).abs()).fold(0.0, f64::max);
    let angle = |i: usize| map.row(i % 360)[1].atan2(map.row(i % 360)[0]);
    let steps: Vec<f64> = (0..360).map(|i| (angle(i + 1) - angle(i) + 3.0 * PI).rem_euclid(TAU) - PI).collect();
    let sum = steps.iter().sum::<f64>();
    let smallest = steps.iter().map(|step| 360.0 * step / sum).fold(f64::INFINITY, f64::min);
    Circle { off, turns: sum.abs() / TAU, smallest }
}
