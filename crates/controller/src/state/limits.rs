//! Timeouts that several parts of the state use.

use jiff::SignedDuration;

pub(super) const RESPONSE_TIMEOUT: SignedDuration = SignedDuration::from_secs(60);

/// Time after which a condition that was not dropped is stable.
pub(super) const REASSERT_WINDOW: SignedDuration = SignedDuration::from_mins(15);
