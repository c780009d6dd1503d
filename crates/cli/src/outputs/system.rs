//! System calls that name or move outputs. In tests any of them can be made to fail.

use std::io::Result;

/// Makes a system call, unless a test lets it fail.
pub(super) fn call<T>(call: impl FnOnce() -> Result<T>) -> Result<T> {
    #[cfg(test)]
    fault::next()?;
    call()
}

#[cfg(test)]
pub(super) mod fault {
    use std::cell::Cell;

    thread_local! {
        /// How many calls succeed before some fail, and how many then do.
        static FAILING: Cell<(usize, usize)> = const { Cell::new((usize::MAX, 0)) };
    }

    /// Lets `count` calls of this thread fail after the next `after`.
    pub(in super::super) fn set(after: usize, count: usize) {
        FAILING.set((after, count));
    }

    /// Whether the failures that were set have all happened; none does from here on.
    pub(in super::super) fn is_over() -> bool {
        FAILING.replace((usize::MAX, 0)).1 == 0
    }

    /// Counts a call, and fails if its turn has come: EIO, as a broken disk answers.
    pub(super) fn next() -> std::io::Result<()> {
        let (after, left) = FAILING.get();
        FAILING.set((after.saturating_sub(1), if after == 0 { left.saturating_sub(1) } else { left }));
        if after == 0 && left > 0 { Err(std::io::Error::from_raw_os_error(5)) } else { Ok(()) }
    }
}
