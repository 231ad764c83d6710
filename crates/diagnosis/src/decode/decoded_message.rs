//! A message that has been told, on its way to an answer.

use std::ops::Range;

use crate::cause::wording::Wording;
use crate::decode::decoded::Decoded;
use crate::read::message::{Handler, Opener};

/// A decoded message and where it stands.
#[derive(Clone, Debug)]
pub(crate) struct DecodedMessage {
    pub(crate) decoded: Decoded,
    pub(crate) span: Range<usize>,
    /// Where the code, or what stands in its place, was read.
    pub(crate) at: Option<usize>,
    /// Whether the code says only that something failed.
    pub(crate) weak: bool,
    pub(crate) opener: Opener,
    /// What the handler says of its run.
    pub(crate) handler: Handler,
    pub(crate) stdout: Option<usize>,
    pub(crate) stderr: Option<usize>,
    pub(crate) step_at: Option<usize>,
    /// Where the report's own `Error` says something.
    pub(crate) error_at: Option<usize>,
    pub(crate) item: Item,
    /// The wording that it consists of, where it is not a message.
    pub(crate) worded: Option<&'static Wording>,
}

/// Whether a message is one of several of its kind. Items of one list are about several machines,
/// however much they are alike; the same words elsewhere are a repetition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Item {
    /// It is not, or it is the first.
    Alone,
    /// Another object of a JSON list, `}, {"code": …, "message": …`.
    Listed,
    /// An extension of an instance view.
    Viewed,
}
