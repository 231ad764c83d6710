//! A decoded message with its positions in the text.

use std::ops::Range;

use crate::cause::wording::Wording;
use crate::decode::decoded::Decoded;
use crate::read::message::{Handler, Opener};

#[derive(Clone, Debug, Default)]
pub(crate) struct DecodedMessage {
    pub(crate) decoded: Decoded,
    pub(crate) span: Range<usize>,
    /// Position of the code or of the message that replaces it.
    pub(crate) at: Option<usize>,
    /// Set if the code only means that something failed.
    pub(crate) weak: bool,
    pub(crate) opener: Opener,
    pub(crate) handler: Handler,
    pub(crate) stdout: Option<usize>,
    pub(crate) stderr: Option<usize>,
    pub(crate) step_at: Option<usize>,
    /// Position of a non-empty `Error` in the report.
    pub(crate) error_at: Option<usize>,
    /// Position of the last line of a non-empty `Output` in the report.
    pub(crate) output_end_at: Option<usize>,
    pub(crate) item: ListPosition,
    /// The matching wording of a text without a message.
    pub(crate) worded: Option<&'static Wording>,
}

/// Position of a message among similar ones. Items of one list describe different VMs, even if they are equal; the same
/// text elsewhere is a repetition.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum ListPosition {
    /// Not in a list, or its first item.
    #[default]
    Alone,
    /// A later object of a JSON list, `}, {"code": …, "message": …`.
    Listed,
    /// An extension of an instance view.
    Viewed,
}
