//! A document with a hole in it, where the encoded node config goes.

/// The text before and after the encoded config.
///
/// A frame's length is known before the config is encoded, so that a config that is too large is
/// refused without being copied, and no format can mention the config twice.
pub(super) struct Frame {
    /// Everything before the config.
    pub(super) before: String,
    pub(super) after: String,
}

impl Frame {
    /// The bytes of the frame alone.
    pub(super) fn len(&self) -> usize {
        self.before.len() + self.after.len()
    }
}
