//! What a cause is: its text, its stage, and the wordings that name it.

pub(crate) mod about;
pub(crate) mod confidence;
pub(crate) mod entry;
pub(crate) mod stage;
pub(crate) mod wording;
