//! Splits blocks of rows into slices, eight neighboring columns at a time.

use super::gram::{Gram, ROWS, Slot, WIDTH};
use super::slices::Window;
use pulp::{Simd, WithSimd};

/// Rows that are split together.
const TOGETHER: usize = 16;

/// Eight columns of the rows that are split together.
type Chunk = [[f64; WIDTH]; TOGETHER];

/// What the slices leave of one number: all of it if the window of the column does not have the number.
#[derive(Clone, Copy, Debug)]
pub(super) struct Remainder {
    pub(super) row: usize,
    pub(super) column: usize,
    pub(super) value: f64,
}

/// How the columns are split.
#[derive(Clone, Debug)]
pub(super) struct Split {
    columns: usize,
    groups: Vec<Group>,
}

/// Eight neighboring columns; the last group may have fewer.
#[derive(Clone, Debug)]
struct Group {
    first: usize,
    count: usize,
    limits: [f64; WIDTH],
    levels: Vec<Level>,
}

/// One slice of every column of a group.
#[derive(Clone, Debug)]
struct Level {
    sigma: [f64; WIDTH],
    scale: [f64; WIDTH],
    place: Place,
}

/// Where the slices go.
#[derive(Clone, Debug)]
enum Place {
    /// To a panel.
    Panel(usize),
    /// Of these columns of the group to these slots.
    Slots(Vec<(usize, usize)>),
}

impl Split {
    /// The split of columns with these windows, and the matrix of their slices. Whole panels come first; the last slot is a
    /// column of ones, whose products with the slices are their sums.
    pub(super) fn new(windows: &[Window]) -> (Split, Gram) {
        let groups = windows.chunks(WIDTH).enumerate().map(|(g, windows)| Group::new(g * WIDTH, windows));
        let mut split = Split { columns: windows.len(), groups: groups.collect() };
        let mut slots: Vec<Option<Slot>> = Vec::new();
        let slot = |column: usize, s: usize| Some(Slot { column, power: windows[column].power(s) });
        for group in &mut split.groups {
            for (s, level) in group.levels.iter_mut().enumerate() {
                if (group.first..group.first + WIDTH).all(|column| windows.get(column).is_some_and(|w| s < w.slices)) {
                    level.place = Place::Panel(slots.len() / WIDTH);
                    slots.extend((group.first..group.first + WIDTH).map(|column| slot(column, s)));
                }
            }
        }
        for group in &mut split.groups {
            for (s, level) in group.levels.iter_mut().enumerate() {
                if let Place::Slots(places) = &mut level.place {
                    for lane in (0..group.count).filter(|lane| s < windows[group.first + lane].slices) {
                        places.push((lane, slots.len()));
                        slots.push(slot(group.first + lane, s));
                    }
                }
            }
        }
        let ones = slots.len();
        slots.push(Some(Slot { column: windows.len(), power: 0 }));
        let mut gram = Gram::new(slots);
        (0..ROWS).for_each(|row| gram.slices[place(ones, row)] = 1.0);
        (split, gram)
    }

    /// The slices of a block of rows, and what they leave.
    pub(super) fn apply<T: Copy + Into<f64>>(&self, rows: &[T], slices: &mut [f64], left: &mut Vec<Remainder>) {
        left.clear();
        pulp::Arch::new().dispatch(Apply { split: self, rows, slices, left });
    }
}

struct Apply<'a, T> {
    split: &'a Split,
    rows: &'a [T],
    slices: &'a mut [f64],
    left: &'a mut Vec<Remainder>,
}

impl<T: Copy + Into<f64>> WithSimd for Apply<'_, T> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let columns = self.split.columns;
        for (chunk, rows) in self.rows.chunks(TOGETHER * columns).enumerate() {
            for group in &self.split.groups {
                let (mut rest, outside) = group.read(simd, rows, columns);
                group.slice(simd, &mut rest, chunk * TOGETHER, self.slices);
                group.collect(simd, &rest, &outside, chunk * TOGETHER, self.left);
            }
        }
    }
}

/// The place of a slot in the slices of a block.
#[inline(always)]
fn place(slot: usize, row: usize) -> usize {
    (slot / WIDTH * ROWS + row) * WIDTH + slot % WIDTH
}

impl Group {
    fn new(first: usize, windows: &[Window]) -> Group {
        let window = |lane: usize| windows.get(lane).copied().unwrap_or(Window::NONE);
        let level = |s: usize| {
            let steps: [(f64, f64); WIDTH] = std::array::from_fn(|lane| window(lane).step(s));
            Level { sigma: steps.map(|step| step.0), scale: steps.map(|step| step.1), place: Place::Slots(Vec::new()) }
        };
        let levels = windows.iter().map(|window| window.slices).max().unwrap_or(0);
        let limits = std::array::from_fn(|lane| window(lane).limit());
        Group { first, count: windows.len(), limits, levels: (0..levels).map(level).collect() }
    }

    /// The numbers of some rows that are in their windows, and those that are not; zero in place of the others.
    #[inline(always)]
    fn read<S: Simd, T: Copy + Into<f64>>(&self, simd: S, rows: &[T], columns: usize) -> (Chunk, Chunk) {
        let (mut inside, mut outside) = ([[0.0; WIDTH]; TOGETHER], [[0.0; WIDTH]; TOGETHER]);
        for (x, row) in inside.iter_mut().zip(rows.chunks_exact(columns)) {
            match (self.count, row[self.first..].first_chunk::<WIDTH>()) {
                (WIDTH, Some(from)) => *x = from.map(Into::into),
                _ => x.iter_mut().zip(&row[self.first..]).for_each(|(x, &from)| *x = from.into()),
            }
        }
        let (zero, limits) = (simd.splat_f64s(0.0), S::as_simd_f64s(&self.limits).0);
        for (inside, outside) in inside.iter_mut().zip(&mut outside) {
            let vectors = S::as_mut_simd_f64s(inside).0.iter_mut().zip(S::as_mut_simd_f64s(outside).0);
            for ((inside, outside), &limit) in vectors.zip(limits) {
                let (x, is) = (*inside, simd.less_than_or_equal_f64s(simd.abs_f64s(*inside), limit));
                (*inside, *outside) = (simd.select_f64s(is, x, zero), simd.select_f64s(is, zero, x));
            }
        }
        (inside, outside)
    }

    /// Puts the slices of these numbers into the rows from `first` on, and keeps the remainders.
    #[inline(always)]
    fn slice<S: Simd>(&self, simd: S, rest: &mut Chunk, first: usize, slices: &mut [f64]) {
        for Level { sigma, scale, place: to } in &self.levels {
            let mut scattered = [[0.0; WIDTH]; TOGETHER];
            let target = match to {
                Place::Panel(panel) => slices[(panel * ROWS + first) * WIDTH..].as_chunks_mut::<WIDTH>().0,
                Place::Slots(_) => &mut scattered[..],
            };
            let constants = S::as_simd_f64s(sigma).0.iter().zip(S::as_simd_f64s(scale).0);
            for (rest, target) in rest.iter_mut().zip(target) {
                let vectors = S::as_mut_simd_f64s(rest).0.iter_mut().zip(S::as_mut_simd_f64s(target).0);
                for ((rest, target), (&sigma, &scale)) in vectors.zip(constants.clone()) {
                    let multiple = simd.sub_f64s(simd.add_f64s(*rest, sigma), sigma);
                    *rest = simd.sub_f64s(*rest, multiple);
                    *target = simd.mul_f64s(multiple, scale);
                }
            }
            if let Place::Slots(all) = to {
                for &(lane, slot) in all {
                    (0..TOGETHER).for_each(|row| slices[place(slot, first + row)] = scattered[row][lane]);
                }
            }
        }
    }

    /// Collects what is left: remainders, and numbers outside of their windows.
    #[inline(always)]
    fn collect<S: Simd>(&self, simd: S, rest: &Chunk, outside: &Chunk, first: usize, left: &mut Vec<Remainder>) {
        let mut largest = simd.splat_f64s(0.0);
        for chunk in [rest, outside] {
            for &vector in S::as_simd_f64s(chunk.as_flattened()).0 {
                largest = simd.max_f64s(largest, simd.abs_f64s(vector));
            }
        }
        if simd.reduce_max_f64s(largest) > 0.0 {
            for (row, lane) in (0..TOGETHER).flat_map(|row| (0..WIDTH).map(move |lane| (row, lane))) {
                let value = rest[row][lane] + outside[row][lane];
                if value != 0.0 {
                    left.push(Remainder { row: first + row, column: self.first + lane, value });
                }
            }
        }
    }
}
