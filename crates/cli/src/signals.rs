//! The signals that end a program: heard, so that nothing unfinished stays behind, and obeyed when that is done.

#[cfg(unix)]
mod heard {
    use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM, SIGXFSZ};
    use signal_hook::iterator::Signals;
    use signal_hook::{flag, low_level};
    use std::sync::atomic::{AtomicI32, Ordering};

    /// The last signal that came; zero before the first.
    static LAST: AtomicI32 = AtomicI32::new(0);

    /// Calls `then` for every signal that asks the program to end. A file that would be larger than is allowed is a failed
    /// write and no end of the program.
    pub(crate) fn listen(then: impl Fn() + Send + 'static) {
        // Without a handler a signal ends the program as usual, which is no reason to refuse the work.
        let _ = flag::register(SIGXFSZ, std::sync::Arc::default());
        let Ok(mut signals) = Signals::new([SIGINT, SIGTERM, SIGHUP]) else { return };
        let _ = std::thread::Builder::new().spawn(move || {
            for signal in signals.forever() {
                LAST.store(signal, Ordering::Relaxed);
                then();
            }
        });
    }

    /// Ends the program by the signal that came, if one did, as it would have without a handler.
    pub(crate) fn end() {
        match LAST.load(Ordering::Relaxed) {
            0 => {}
            signal => drop(low_level::emulate_default_handler(signal)),
        }
    }
}

#[cfg(not(unix))]
mod heard {
    /// Calls `then` for every Ctrl-C.
    pub(crate) fn listen(then: impl Fn() + Send + 'static) {
        // Without a handler Ctrl-C ends the program as usual, which is no reason to refuse the work.
        let _ = ctrlc::set_handler(then);
    }

    /// There is no end by a signal here.
    pub(crate) fn end() {}
}

pub(crate) use heard::{end, listen};
