//! Which parts of the paper are taken, so that names and images do not lie on each other.

use super::scene::Area;

/// An area, square unit by square unit.
pub(crate) struct Room {
    area: Area,
    columns: usize,
    rows: usize,
    taken: Vec<bool>,
}

impl Room {
    /// An area of which nothing is taken.
    pub(crate) fn new(area: Area) -> Room {
        let (columns, rows) = (area.width.max(0.0).ceil() as usize, area.height.max(0.0).ceil() as usize);
        Room { area, columns, rows, taken: vec![false; columns * rows] }
    }

    /// Takes what lies in a part, as far as it is within the area.
    pub(crate) fn take(&mut self, part: Area) {
        let (from, to) = self.cells(part);
        for row in from.1.max(0)..to.1.min(self.rows as i64) {
            for column in from.0.max(0)..to.0.min(self.columns as i64) {
                self.taken[row as usize * self.columns + column as usize] = true;
            }
        }
    }

    /// Whether a part lies within the area and nothing of it is taken.
    pub(crate) fn is_free(&self, part: Area) -> bool {
        let (from, to) = self.cells(part);
        let inside = from.0 >= 0 && from.1 >= 0 && to.0 <= self.columns as i64 && to.1 <= self.rows as i64;
        inside
            && (from.1..to.1).all(|row| {
                let start = row as usize * self.columns;
                self.taken[start + from.0 as usize..start + to.0 as usize].iter().all(|&taken| !taken)
            })
    }

    /// The first cells of a part, and those after its last.
    fn cells(&self, part: Area) -> ((i64, i64), (i64, i64)) {
        let low = |value: f64, from: f64| (value - from).floor() as i64;
        let high = |value: f64, from: f64| (value - from).ceil() as i64;
        let (x, y) = (self.area.x, self.area.y);
        ((low(part.x, x), low(part.y, y)), (high(part.right(), x), high(part.bottom(), y)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_taken_is_not_free_and_neither_is_what_lies_outside() {
        let part = |x: f64, y: f64, width: f64, height: f64| Area { x, y, width, height };
        let mut room = Room::new(part(10.0, 20.0, 30.0, 15.0));
        assert!(room.is_free(part(12.0, 21.0, 5.5, 4.0)));
        room.take(part(16.2, 24.0, 100.0, 1.0));
        assert!(!room.is_free(part(12.0, 21.0, 5.5, 4.0)));
        assert!(room.is_free(part(12.0, 21.0, 4.0, 4.0)));
        for outside in [part(9.0, 21.0, 4.0, 4.0), part(38.0, 21.0, 4.0, 4.0), part(12.0, 34.0, 2.0, 4.0)] {
            assert!(!room.is_free(outside), "{outside:?}");
        }
        room.take(part(-1e300, 0.0, 1e-3, f64::INFINITY));
    }
}
