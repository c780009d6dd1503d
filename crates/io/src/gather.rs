//! All that comes out of a pipe or a compressed file, whose length is not known before, in little more memory than it takes.

use std::io::{ErrorKind, Read, Result};

/// The bytes of a block: large enough that freed memory returns to the system at once.
const BLOCK: usize = 32 << 20;

/// All that comes out of a reader, or nothing if that is more than `most` bytes. A vector that grows is in memory twice
/// each time it moves; so blocks are gathered, and each is given back when it has been copied to its place: at no time
/// is there more than one block beside what is returned.
pub(super) fn gathered(reader: &mut dyn Read, most: u64) -> Result<Option<Vec<u8>>> {
    let (mut blocks, mut length) = (Vec::new(), 0u64);
    loop {
        let mut block = Vec::new();
        // What is small is not worth a whole block.
        if length > 0 {
            block.try_reserve_exact(BLOCK)?;
        }
        let room = most.saturating_add(1) - length;
        let read = (&mut *reader).take(room.min(BLOCK as u64)).read_to_end(&mut block)?;
        length += read as u64;
        if length > most {
            return Ok(None);
        }
        blocks.push(block);
        if read < BLOCK {
            break;
        }
    }
    if blocks.len() == 1 {
        return Ok(blocks.pop());
    }
    let mut all = Vec::new();
    all.try_reserve_exact(usize::try_from(length).map_err(|_| ErrorKind::OutOfMemory)?)?;
    blocks.into_iter().for_each(|block| all.extend_from_slice(&block));
    Ok(Some(all))
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test may panic")]
mod tests {
    use super::*;

    #[test]
    fn what_fills_several_blocks_is_whole() {
        let content: Vec<u8> = (0..2 * BLOCK + 7).map(|i| (i % 251) as u8).collect();
        for length in [BLOCK - 1, BLOCK, BLOCK + 1, 2 * BLOCK, 2 * BLOCK + 7] {
            let gathered = gathered(&mut &content[..length], length as u64).unwrap().unwrap();
            assert!(gathered == content[..length], "{length}");
            assert!(super::gathered(&mut &content[..length], length as u64 - 1).unwrap().is_none(), "{length}");
        }
    }
}
