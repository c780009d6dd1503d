//! Runs a loop compiled for the widest vector instructions of the machine.

/// Runs `work`, and everything inlined into it, compiled for the instructions of the machine (such as AVX2 and FMA), detected at
/// run time.
///
/// The closure, and what it calls in its inner loops, must be `#[inline(always)]`. It is called by reference: the
/// wrapper the compiler makes to call a closure by value is not inlined, and the loop would stay narrow.
#[inline(always)]
pub fn widest<R>(work: impl FnMut() -> R) -> R {
    pulp::Arch::new().dispatch(Work(work))
}

struct Work<F>(F);

impl<R, F: FnMut() -> R> pulp::WithSimd for Work<F> {
    type Output = R;

    #[inline(always)]
    fn with_simd<S: pulp::Simd>(mut self, _simd: S) -> R {
        (self.0)()
    }
}
