//! The clock of the host.

use std::thread;
use std::time::{Duration, Instant};

#[expect(clippy::disallowed_methods, reason = "this is the seam through which others see time")]
pub(super) fn now() -> Instant {
    Instant::now()
}

#[expect(clippy::disallowed_methods, reason = "this is the seam through which others wait")]
pub(super) fn sleep(pause: Duration) {
    thread::sleep(pause);
}
