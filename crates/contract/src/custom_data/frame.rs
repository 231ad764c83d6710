//! A document without its encoded node config.

/// The text before and after the encoded config.
///
/// A frame's length is known before the config is encoded, so that a config that is too large is
/// rejected without being copied, and no format can contain the config twice.
pub(super) struct Frame {
    /// Everything before the config.
    pub(super) before: String,
    pub(super) after: String,
}

impl Frame {
    /// Returns the length of the frame in bytes.
    pub(super) fn len(&self) -> usize {
        self.before.len() + self.after.len()
    }
}
