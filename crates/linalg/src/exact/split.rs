//! Splits blocks of rows into slices, eight neighboring columns at a time.

use super::gram::{Gram, ROWS, Slot, WIDTH};
use super::slices::Window;

/// Rows that are split together.
const TOGETHER: usize = 16;

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
        crate::widest(|| {
            for group in &self.groups {
                for first in (0..rows.len() / self.columns).step_by(TOGETHER) {
                    group.apply(rows, self.columns, first, slices, left);
                }
            }
        });
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

    /// Splits the rows from `first` on, at most as many as are split together.
    #[inline(always)]
    fn apply<T: Copy + Into<f64>>(
        &self,
        rows: &[T],
        columns: usize,
        first: usize,
        slices: &mut [f64],
        left: &mut Vec<Remainder>,
    ) {
        let count = TOGETHER.min(rows.len() / columns - first);
        // What is left of the numbers in the window, and the numbers outside of it.
        let mut rest = [[0.0f64; WIDTH]; TOGETHER];
        let mut outside = [[0.0f64; WIDTH]; TOGETHER];
        for row in 0..count {
            let from = &rows[(first + row) * columns + self.first..];
            let mut x = [0.0f64; WIDTH];
            match (self.count, from.first_chunk::<WIDTH>()) {
                (WIDTH, Some(from)) => x = from.map(Into::into),
                _ => x.iter_mut().zip(&from[..self.count]).for_each(|(x, &from)| *x = from.into()),
            }
            for lane in 0..WIDTH {
                let inside = x[lane].abs() <= self.limits[lane];
                rest[row][lane] = if inside { x[lane] } else { 0.0 };
                outside[row][lane] = if inside { 0.0 } else { x[lane] };
            }
        }
        for Level { sigma, scale, place: to } in &self.levels {
            let mut slice = [[0.0f64; WIDTH]; TOGETHER];
            for row in 0..TOGETHER {
                for lane in 0..WIDTH {
                    let multiple = (rest[row][lane] + sigma[lane]) - sigma[lane];
                    rest[row][lane] -= multiple;
                    slice[row][lane] = multiple * scale[lane];
                }
            }
            match to {
                Place::Panel(panel) => {
                    let to = &mut slices[(panel * ROWS + first) * WIDTH..][..TOGETHER * WIDTH];
                    to.copy_from_slice(slice.as_flattened());
                }
                Place::Slots(all) => {
                    for &(lane, slot) in all {
                        (0..TOGETHER).for_each(|row| slices[place(slot, first + row)] = slice[row][lane]);
                    }
                }
            }
        }
        for row in 0..TOGETHER {
            for lane in 0..WIDTH {
                rest[row][lane] += outside[row][lane];
            }
        }
        if rest.as_flattened().iter().fold(false, |any, &rest| any | (rest != 0.0)) {
            self.collect(&rest, first, left);
        }
    }

    #[cold]
    fn collect(&self, rest: &[[f64; WIDTH]; TOGETHER], first: usize, left: &mut Vec<Remainder>) {
        for (row, rest) in rest.iter().enumerate() {
            for (lane, &value) in rest.iter().enumerate().filter(|&(_, &value)| value != 0.0) {
                left.push(Remainder { row: first + row, column: self.first + lane, value });
            }
        }
    }
}
