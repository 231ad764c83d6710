//! Secrets, and text of other systems made safe to print.
//!
//! | module | contents |
//! |---|---|
//! | `secret` | [`Secret`] and [`ProxyUrl`], which cannot be printed |
//! | `names` | the one table of names of secrets |
//! | `heuristics`, `mask` | likely secrets: by their form, by their label, in URLs |
//! | `redactor` | [`Redactor`]: known secrets in every encoding, streamed |
//! | `quoted` | errors of libraries without the values that they quote |
//! | `text`, `markup` | one line, bounded, without control characters; Markdown and shell words |
//! | `escape` | escapes of JSON strings |
//! | `json` | members of JSON documents that may hold secrets (feature `json`) |
//!
//! [`foreign`] is the default for an error, a condition or a log line that contains text of another system.

mod escape;
mod heuristics;
#[cfg(feature = "json")]
pub mod json;
mod markup;
mod mask;
mod names;
mod quoted;
mod redactor;
mod secret;
mod text;

pub use escape::{Escape, escape_into, escaped_len};
pub use heuristics::looks_secret;
pub use markup::{is_plain_word, markdown, markdown_code, shell_word};
pub use mask::{likely_secrets, mask_line, mask_line_around, secret_ranges};
pub use names::names_secret;
pub use quoted::drop_quoted_values;
pub use redactor::{ForeignStream, MIN_VALUE, Redactor, Stream};
pub use secret::{MASK, ProxyUrl, Secret};
pub use text::{
    Limit, Lines, foreign, identifier, is_hidden, lossy, one_line, printable, printable_lines,
    truncated, without_middle,
};
