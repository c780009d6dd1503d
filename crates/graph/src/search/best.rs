//! The few best of many candidates, sorted as they come.

use crate::search::index::Lists;

/// The at most `k` smallest candidates by (distance, index).
#[derive(Clone, Debug)]
pub(crate) struct Best {
    k: usize,
    items: Vec<(f64, u32)>,
}

impl Best {
    pub(crate) fn new(k: usize) -> Best {
        debug_assert!(k > 0);
        Best { k, items: Vec::with_capacity(k + 1) }
    }

    pub(crate) fn clear(&mut self) {
        self.items.clear();
    }

    /// The worst candidate of a full list.
    #[inline(always)]
    pub(crate) fn worst(&self) -> Option<(f64, u32)> {
        if self.items.len() < self.k { None } else { self.items.last().copied() }
    }

    /// Whether nothing of this index or a larger one can enter any more, because all `k` distances are zero.
    #[inline(always)]
    pub(crate) fn complete(&self, index: u32) -> bool {
        matches!(self.worst(), Some((distance, last)) if distance == 0.0 && last < index)
    }

    /// Adds the candidate if it is among the best so far, and returns whether it was.
    #[inline(always)]
    pub(crate) fn offer(&mut self, distance: f64, index: u32) -> bool {
        if let Some((last, at)) = self.worst() {
            if distance > last || (distance == last && index > at) {
                return false;
            }
            self.items.pop();
        }
        // Shifted by hand: the lists are short, and most candidates belong near the end.
        let mut at = self.items.len();
        self.items.push((distance, index));
        while at > 0 {
            let (d, j) = self.items[at - 1];
            if d < distance || (d == distance && j < index) {
                break;
            }
            self.items[at] = (d, j);
            at -= 1;
        }
        self.items[at] = (distance, index);
        true
    }

    /// Appends the list; places never filled are infinitely far.
    pub(crate) fn write(&self, lists: &mut Lists) {
        let missing = self.k - self.items.len();
        lists.0.extend(self.items.iter().map(|item| item.1).chain(std::iter::repeat_n(u32::MAX, missing)));
        lists.1.extend(self.items.iter().map(|item| item.0).chain(std::iter::repeat_n(f64::INFINITY, missing)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ties_go_to_the_smaller_index() {
        let mut best = Best::new(2);
        for (distance, index) in [(1.0, 9), (1.0, 4), (2.0, 0), (1.0, 7), (0.0, 8)] {
            best.offer(distance, index);
        }
        let mut lists = (Vec::new(), Vec::new());
        best.write(&mut lists);
        assert_eq!(lists, (vec![8, 4], vec![0.0, 1.0]));
    }
}
