//! The wait for permissions that were just granted.

use jiff::SignedDuration;

pub(super) struct Grace {
    pub(super) timeout: SignedDuration,
    pub(super) report: Box<dyn FnMut(&str)>,
}
