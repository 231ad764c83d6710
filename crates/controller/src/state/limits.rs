//! Times of the state that several of its parts use.

use jiff::SignedDuration;

/// An answer that did not come by then will not.
pub(super) const ANSWERED_WITHIN: SignedDuration = SignedDuration::from_secs(60);

/// A condition that was not dropped for so long stays.
pub(super) const REASSERTED_FOR: SignedDuration = SignedDuration::from_mins(15);
