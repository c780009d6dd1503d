//! Some of many points, from all over them.

/// `count` of `n` indices, ascending: one of each of `count` equal stretches, at a random place within the stretch. Rows that
/// repeat with a period are therefore all likely to be among them. Another `round` draws other places.
pub(crate) fn spread(count: usize, n: usize, round: u64) -> impl Iterator<Item = u32> {
    (0..count).map(move |at| {
        let (start, end) = (at * n / count, (at + 1) * n / count);
        let place = mixed(at as u64 ^ (round << 48)) % (end - start).max(1) as u64;
        (start + place as usize) as u32
    })
}

/// The finalizer of splitmix64: bits that look random.
///
/// G. L. Steele, D. Lea, C. H. Flood. Fast splittable pseudorandom number generators. OOPSLA 2014.
fn mixed(x: u64) -> u64 {
    let x = x.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn indices_ascend_and_all_residues_of_a_period_are_among_them() {
        for (count, n) in [(1, 1), (3, 3), (7, 12), (100, 12_800)] {
            let drawn: Vec<u32> = spread(count, n, 0).collect();
            assert!(drawn.len() == count && drawn.is_sorted_by(|a, b| a < b) && (drawn[count - 1] as usize) < n);
        }
        let mut residues: Vec<u32> = spread(400, 400 * 128, 0).map(|i| i % 32).collect();
        residues.sort_unstable();
        residues.dedup();
        assert_eq!(residues.len(), 32);
        assert!(spread(400, 400 * 128, 1).ne(spread(400, 400 * 128, 0)));
    }
}
