//! Exact sums and moments against integers of any size, against single operations of the machine, and against themselves.

use super::gram::ROWS;
use super::sum::{LOWEST, Sum, parts};
use super::{ExactMoments, ExactSums};
use rand::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use std::collections::BTreeMap;

/// The slow twin: Σ integer 2^power, an integer for every power.
#[derive(Default)]
struct Twin(BTreeMap<i32, i128>);

impl Twin {
    fn add_product(&mut self, x: f64, y: f64) {
        let ((m, a), (n, b)) = (parts(x), parts(y));
        *self.0.entry(a + b).or_default() += i128::from(m) * i128::from(n);
    }

    /// The bytes that an exact sum of this value has.
    fn bytes(&self) -> Vec<u8> {
        let mut limbs = vec![0u64; 70];
        let mut carry = 0i128;
        for at in 0..64 * limbs.len() {
            carry += self.0.get(&(at as i32 + LOWEST)).copied().unwrap_or(0);
            limbs[at / 64] |= ((carry & 1) as u64) << (at % 64);
            carry >>= 1;
        }
        assert!(carry == 0 || carry == -1);
        let Some(first) = limbs.iter().position(|&limb| limb != 0) else { return vec![0, 0] };
        let fill = carry as u64;
        while limbs.last() == Some(&fill) && limbs[limbs.len() - 2] >> 63 == fill >> 63 {
            limbs.pop();
        }
        let mut bytes = vec![first as u8, (limbs.len() - first) as u8];
        limbs[first..].iter().for_each(|limb| bytes.extend(limb.to_le_bytes()));
        bytes
    }
}

struct Random(Xoshiro256PlusPlus);

impl Random {
    fn new(seed: u64) -> Random {
        Random(Xoshiro256PlusPlus::seed_from_u64(seed))
    }

    fn below(&mut self, end: u64) -> usize {
        (self.0.next_u64() % end) as usize
    }

    /// A number of any magnitude, which may be zero or subnormal.
    fn any(&mut self) -> f64 {
        let x = f64::from_bits(self.0.next_u64());
        if x.is_finite() { x } else { 0.0 }
    }

    fn uniform(&mut self) -> f64 {
        (self.0.next_u64() >> 11) as f64 * 2f64.powi(-53)
    }

    fn normal(&mut self) -> f64 {
        (-2.0 * (1.0 - self.uniform()).ln()).sqrt() * (std::f64::consts::TAU * self.uniform()).cos()
    }

    fn shuffled(&mut self, n: usize) -> Vec<usize> {
        let mut order: Vec<usize> = (0..n).collect();
        (1..n).rev().for_each(|i| order.swap(i, self.below(i as u64 + 1)));
        order
    }
}

/// What tables may be made of: the name, the rows, the columns, and a number.
type Kind = (&'static str, usize, usize, fn(&mut Random, usize) -> f64);

/// Tables that take every route: few and many slices, partial panels, remainders, and columns without a window.
const KINDS: [Kind; 12] = [
    ("uniform", 700, 9, |random, _| random.uniform()),
    ("normal", 1100, 8, |random, _| random.normal()),
    ("one column", 300, 1, |random, _| random.normal()),
    ("one row", 1, 7, |random, _| random.normal()),
    ("integers", 600, 19, |random, _| (100.0 * random.normal()).round()),
    ("zeros", 600, 3, |random, j| if j == 1 { 0.0 } else { random.below(2) as f64 }),
    ("lognormal", 600, 10, |random, _| (10.0 * random.normal()).exp()),
    ("wild", 300, 5, |random, _| random.any()),
    ("one wild column", 600, 11, |random, j| if j == 3 { random.any() } else { random.normal() }),
    ("outliers", 900, 9, |random, _| random.normal() * if random.below(200) == 0 { 1e200 } else { 1e-3 }),
    ("huge and tiny", 600, 6, |random, j| random.normal() * if j < 3 { 1e300 } else { 1e-300 }),
    ("subnormal", 600, 4, |random, j| random.uniform() * if j == 0 { 1.0 } else { 1e-310 }),
];

fn table(kind: &Kind, random: &mut Random) -> Vec<f64> {
    let &(_, rows, columns, number) = kind;
    (0..rows * columns).map(|at| number(random, at % columns)).collect()
}

fn bytes(moments: &mut ExactMoments) -> Vec<u8> {
    moments.to_bytes(0..moments.length()).unwrap()
}

fn moments_of(x: &[f64], columns: usize) -> ExactMoments {
    let mut moments = ExactMoments::new(columns).unwrap();
    moments.add(x).unwrap();
    moments
}

#[test]
fn moments_are_the_sums_of_the_products_of_integers() {
    for kind in &KINDS {
        let (x, p) = (table(kind, &mut Random::new(1)), kind.2);
        let mut twins = Vec::new();
        for (j, k) in (0..p).map(|j| (j, p)).chain((0..p).flat_map(|j| (0..=j).map(move |k| (j, k)))) {
            let mut twin = Twin::default();
            x.chunks_exact(p).for_each(|row| twin.add_product(row[j], if k == p { 1.0 } else { row[k] }));
            twins.extend(twin.bytes());
        }
        assert!(bytes(&mut moments_of(&x, p)) == twins, "{}", kind.0);
    }
}

#[test]
fn the_order_and_the_division_of_the_rows_change_no_byte() {
    let mut random = Random::new(2);
    for kind in &KINDS {
        let (x, p) = (table(kind, &mut random), kind.2);
        let mut whole = moments_of(&x, p);
        for _ in 0..3 {
            let order = random.shuffled(x.len() / p);
            let rows: Vec<f64> = order.iter().flat_map(|&i| x[i * p..(i + 1) * p].iter().copied()).collect();
            let (mut parts, mut rest) = (ExactMoments::new(p).unwrap(), &rows[..]);
            while !rest.is_empty() {
                let (batch, after) = rest.split_at((p * (1 + random.below(400))).min(rest.len()));
                let mut part = moments_of(batch, p);
                let middle = random.below(part.length() as u64);
                let (low, high) = (part.to_bytes(0..middle).unwrap(), part.to_bytes(middle..part.length()).unwrap());
                parts.merge_bytes(middle, &high, part.count()).unwrap();
                parts.merge_bytes(0, &low, 0).unwrap();
                rest = after;
            }
            assert!(bytes(&mut parts) == bytes(&mut whole) && parts.count() == whole.count(), "{}", kind.0);
        }
    }
}

#[test]
fn rows_of_other_data_before_change_no_byte() {
    // The windows of one kind of data serve, or fail to serve, the next kind.
    let mut random = Random::new(3);
    let kinds: Vec<Vec<f64>> =
        KINDS.iter().map(|&(_, _, _, number)| table(&("", 600, 5, number), &mut random)).collect();
    let mut forward = moments_of(&kinds.concat(), 5);
    let mut backward = ExactMoments::new(5).unwrap();
    kinds.iter().rev().for_each(|x| backward.add(x).unwrap());
    assert!(bytes(&mut forward) == bytes(&mut backward));
}

#[test]
fn single_precision_has_the_moments_of_the_same_numbers() {
    let mut random = Random::new(4);
    let x: Vec<f32> = (0..900 * 13).map(|at| random.normal() as f32 * if at % 13 == 2 { 1e-40 } else { 1.0 }).collect();
    let double: Vec<f64> = x.iter().map(|&x| x.into()).collect();
    let mut single = ExactMoments::new(13).unwrap();
    single.add(&x).unwrap();
    assert_eq!(bytes(&mut single), bytes(&mut moments_of(&double, 13)));
}

#[test]
fn many_blocks_of_the_largest_slices_do_not_overflow() {
    // The first block needs all bits of one slice, so that the numbers after it are 2^22 times its unit.
    let (first, later, times) = (vec![4194303.0f32; ROWS * 9], vec![4194304.0f32; ROWS * 64 * 9], 33);
    let mut moments = ExactMoments::new(9).unwrap();
    moments.add(&first).unwrap();
    (0..times).for_each(|_| moments.add(&later).unwrap());
    let (a, n) = (ROWS as i64, (ROWS + ROWS * 64 * times) as i64);
    assert_eq!(moments.mean().unwrap(), [(4194304 * n - a) as f64 / n as f64; 9]);
    assert_eq!(moments.covariance().unwrap(), faer::Mat::full(9, 9, (a * (n - a)) as f64 / (n * n) as f64));
}

#[test]
fn covariance_survives_an_offset_that_two_passes_do_not() {
    let mut random = Random::new(5);
    let small: Vec<i64> = (0..999).map(|_| random.below(64) as i64).collect();
    let x: Vec<f64> = small.iter().map(|&m| 1e8 + m as f64 * 2f64.powi(-26)).collect();
    let (n, s) = (small.len() as i64, small.iter().sum::<i64>());
    let exact = (n * small.iter().map(|m| m * m).sum::<i64>() - s * s) as f64 / (n * n) as f64 * 2f64.powi(-52);
    let mean = x.iter().sum::<f64>() / n as f64;
    let two_passes = x.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / n as f64;
    assert_eq!(moments_of(&x, 1).covariance().unwrap()[(0, 0)], exact);
    assert!((two_passes - exact).abs() > 1e-6 * exact);
}

#[test]
fn covariance_of_small_integers_is_the_quotient_that_the_machine_rounds() {
    let mut random = Random::new(6);
    for n in [1, 2, 3, 7, 100, 1001] {
        let x: Vec<i64> = (0..4 * n).map(|_| random.below(2001) as i64 - 1000).collect();
        let real: Vec<f64> = x.iter().map(|&m| m as f64).collect();
        let mut moments = moments_of(&real, 4);
        let covariance = moments.covariance().unwrap();
        let sum = |of: &dyn Fn(&[i64]) -> i64| x.chunks_exact(4).map(of).sum::<i64>();
        for (j, k) in (0..4).flat_map(|j| (0..4).map(move |k| (j, k))) {
            let numerator = n as i64 * sum(&|row| row[j] * row[k]) - sum(&|row| row[j]) * sum(&|row| row[k]);
            assert_eq!(covariance[(j, k)], numerator as f64 / (n * n) as f64);
            assert_eq!(moments.mean().unwrap()[j], sum(&|row| row[j]) as f64 / n as f64);
        }
    }
}

#[test]
fn one_operation_is_rounded_as_the_machine_rounds_it() {
    let mut random = Random::new(7);
    for round in 0..20_000 {
        let (x, y, z) = match round % 4 {
            0 => (random.any(), random.any(), random.any()),
            // Of similar magnitude, so that the sum has few digits or many.
            1 => (random.normal(), random.normal(), random.normal() * 1e-16),
            2 => (random.normal() * 1e-155, random.normal() * 1e-155, random.normal() * 1e-310),
            _ => (random.normal() * 1e154, random.normal() * 1e154, random.normal() * (f64::MAX / 8.0)),
        };
        let of = |add: &dyn Fn(&mut Sum)| {
            let mut sum = Sum::default();
            add(&mut sum);
            sum.value().to_f64()
        };
        let added = of(&|sum| [x, y].iter().for_each(|&each| sum.add(each)));
        assert_eq!(added, x + y, "{x:e} + {y:e}");
        assert_eq!(of(&|sum| sum.add_product(x, y)), x * y, "{x:e} · {y:e}");
        let fused = of(&|sum| {
            sum.add_product(x, y);
            sum.add(z);
        });
        assert_eq!(fused, x.mul_add(y, z), "{x:e} · {y:e} + {z:e}");
        let n = random.below(1 << 53) as u64 + 1;
        let mut sum = Sum::default();
        sum.add(x);
        assert_eq!(sum.value().quotient(n, 1), x / n as f64, "{x:e} / {n}");
    }
}

#[test]
fn sums_cancel_without_a_rest() {
    let mut sums = ExactSums::new(2).unwrap();
    sums.add(&[1e16, f64::MAX, 1.0, 5e-324, -1e16, -f64::MAX]).unwrap();
    assert_eq!(sums.values(), [1.0, 5e-324]);
    sums.add(&[-1.0, -5e-324]).unwrap();
    assert_eq!(sums.values(), [0.0, 0.0]);
    assert_eq!(sums.to_bytes(0..2).unwrap(), [0, 0, 0, 0]);
}

#[test]
fn sums_overflow_to_infinity_only_at_the_end() {
    let mut sums = ExactSums::new(1).unwrap();
    (0..5).for_each(|_| sums.add(&[-f64::MAX]).unwrap());
    assert_eq!(sums.values(), [f64::NEG_INFINITY]);
    (0..4).for_each(|_| sums.add_at(0, f64::MAX).unwrap());
    assert_eq!(sums.values(), [-f64::MAX]);
}

#[test]
fn sums_have_the_same_bytes_in_every_order() {
    let mut random = Random::new(8);
    for spread in [1.0, 50.0, 700.0] {
        let values: Vec<f64> = (0..500).map(|_| random.normal() * (spread * (random.uniform() - 0.5)).exp()).collect();
        let mut twin = Twin::default();
        values.iter().for_each(|&value| twin.add_product(value, 1.0));
        for _ in 0..5 {
            let (mut low, mut high) = (ExactSums::new(1).unwrap(), ExactSums::new(1).unwrap());
            let order = random.shuffled(values.len());
            let (first, second) = order.split_at(random.below(500));
            first.iter().for_each(|&i| low.add(&[values[i]]).unwrap());
            second.iter().for_each(|&i| high.add_at(0, values[i]).unwrap());
            low.merge(&high).unwrap();
            assert_eq!(low.to_bytes(0..1).unwrap(), twin.bytes());
        }
    }
}

#[test]
fn hostile_bytes_are_errors_and_add_nothing() {
    let mut sums = ExactSums::new(3).unwrap();
    sums.add(&[1.0, -2.5, 1e300]).unwrap();
    let good = sums.to_bytes(0..3).unwrap();
    let mut random = Random::new(9);
    for _ in 0..20_000 {
        let mut bytes = good.clone();
        match random.below(3) {
            0 => bytes.truncate(random.below(good.len() as u64 + 1)),
            1 => bytes.extend((0..random.below(30)).map(|_| random.below(256) as u8)),
            _ => (0..3).for_each(|_| bytes[random.below(good.len() as u64)] = random.below(256) as u8),
        }
        let mut copy = sums.clone();
        match copy.merge_bytes(random.below(4), &bytes) {
            Ok(()) => assert_eq!(copy.len(), 3),
            Err(_) => assert_eq!(copy.to_bytes(0..3).unwrap(), good),
        }
    }
    // A zero limb at either end, a repeated sign, a limb beyond the last one, half a limb.
    let one = |first: u8, limbs: &[u64]| {
        let limbs = limbs.iter().flat_map(|limb| limb.to_le_bytes());
        [first, (limbs.clone().count() / 8) as u8].into_iter().chain(limbs).collect::<Vec<u8>>()
    };
    let bad = [
        one(3, &[0, 1]),
        one(3, &[1, 0]),
        one(3, &[u64::MAX, u64::MAX]),
        one(67, &[1, 1]),
        one(255, &[1]),
        one(1, &[]),
    ];
    for bytes in bad.iter().map(|bytes| &bytes[..]).chain([&one(3, &[7])[..9], &[0]]) {
        assert!(sums.merge_bytes(0, bytes).is_err(), "{bytes:?}");
    }
    assert!(sums.merge_bytes(1, &good).is_err() && sums.merge_bytes(usize::MAX, &good).is_err());
    assert!(sums.to_bytes(1..4).is_err() && sums.merge_bytes(0, &good).is_ok());
}

#[test]
fn what_is_not_finite_or_not_whole_rows_adds_nothing() {
    let mut moments = moments_of(&[1.0, 2.0, 3.0, 4.0], 2);
    let before = bytes(&mut moments);
    let error = moments.add(&[5.0, 6.0, 7.0, f64::NAN]).unwrap_err();
    assert_eq!((error.at().row, error.at().column), (Some(1), Some(1)));
    assert!(moments.add(&[f32::INFINITY, 1.0]).is_err() && moments.add(&[1.0, 2.0, 3.0]).is_err());
    assert!(bytes(&mut moments) == before && moments.count() == 2);
    let mut sums = ExactSums::new(2).unwrap();
    assert!(sums.add(&[1.0, f64::NEG_INFINITY]).is_err() && sums.add(&[1.0]).is_err());
    assert!(sums.add_at(2, 1.0).is_err() && sums.add_at(0, f64::NAN).is_err() && sums.values() == [0.0; 2]);
    assert!(ExactMoments::new(0).is_err() && ExactMoments::new(usize::MAX).is_err());
    assert!(ExactMoments::new(1 << 24).is_err() && ExactSums::new(1 << 50).is_err());
    assert!(ExactMoments::new(1).unwrap().mean().is_err() && ExactMoments::new(1).unwrap().covariance().is_err());
}
