//! Azure messages in errors.

use mooring_redact::{Limit, foreign};

/// Useful Azure messages (policy, quota) are shorter.
const MAX_MESSAGE: Limit = Limit::Chars(1024);

/// Returns `text` on one line, without quoted values and likely secrets, cut after 1,024 characters.
pub(crate) fn safe(text: &str) -> String {
    foreign(text, MAX_MESSAGE)
}
