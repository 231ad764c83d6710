//! Likely secrets in text of other systems.
//!
//! | module | contents |
//! |---|---|
//! | `line` | a line with masks |
//! | `ranges` | all likely secrets of a line |
//! | `labeled` | values after a name, a header, a flag or a verb |
//! | `values` | start and end of a value |
//! | `urls` | user information and queries |

mod labeled;
mod line;
mod ranges;
mod urls;
mod values;

pub use line::{mask_line, mask_line_around};
pub use ranges::{likely_secrets, secret_ranges};

#[cfg(test)]
mod tests;
