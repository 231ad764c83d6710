//! Screens of commands: marks, wrapped text, labels and tables, for a terminal of any width or for a pipe.
//!
//! | module | contents |
//! |---|---|
//! | `suggest` | names that are similar to one that does not exist |
//! | `style` | [`Style`]: width, color, Unicode and links of an output |
//! | `text` | [`Text`]: words with colors and links; text of other systems is made safe here |
//! | `screen` | [`Screen`]: sentences, labels, commands and tables, rendered for a style |
//! | `message` | messages on stderr, wrapped |
//! | `table` | [`Table`]: columns that are dropped by rank if they do not fit |
//! | `wrap` | wrapping at words, truncating in the middle |
//!
//! The rules: a pipe is never wrapped or truncated; sentences wrap at 100 columns; labels take 12; commands and evidence
//! are never wrapped; colors are never the only sign.

mod message;
mod screen;
mod style;
pub mod suggest;
mod table;
mod text;
mod wrap;

pub use message::wrap_message;
pub use screen::{LABEL, Screen};
pub use style::Style;
pub use table::{Column, Table};
pub use text::{Mark, Text};
pub use wrap::{truncate_middle, width};
