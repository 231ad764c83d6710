//! Known secrets in every encoding.
//!
//! A [`Redactor`] is built once from every secret value that the caller knows. It finds them in
//! any text: as they are, line by line, decoded, and in each of the encodings that the
//! scripts, their tools and our own logs use (`encodings`).
//!
//! **Redacted:** every byte that belongs to any match, so that overlapping secrets leave no
//! remainder; each unbroken run of such bytes becomes one mask. A pattern longer than 61 bytes is cut into pieces of 28
//! to 64 bytes which are searched for one by one: a whole occurrence is still masked as one run, and of an occurrence
//! that was cut off, as in the tail of a log, all whole pieces are masked.
//!
//! **Not redacted:** white space around a value. Values of less than four bytes ([`MIN_VALUE`]):
//! masking them would destroy the text around them and reveal them to a reader. For the
//! same reason a base64 form counts from six characters on. Secrets encoded twice are found only
//! if a known value is one of the two layers, as with base64 of the base64 in a node config.
//!
//! **Cost.** Per byte of text one lookup in a bitmap and, where that hits, a binary search
//! over the pieces, each comparison at most 64 bytes, and at most 60 steps from a piece to a shorter
//! one: `O(text * log(pieces))` for any text and any secrets. A match that fails late, as `aaaa...`
//! does against `aaa...ab`, costs no more than one that succeeds.

mod encodings;
mod foreign;
mod known;
mod matcher;
mod placeholder;
mod stream;
mod values;

#[cfg(test)]
mod tests;

pub use foreign::ForeignStream;
pub use known::Redactor;
pub use stream::Stream;
pub use values::MIN_VALUE;
