//! The wait for permissions that were just granted.

use jiff::SignedDuration;

pub(super) struct Grace {
    pub(super) most: SignedDuration,
    pub(super) say: Box<dyn FnMut(&str)>,
}
