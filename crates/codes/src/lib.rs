//! Exit codes of a node's bootstrap: meaning, cause, owner and next step.
//!
//! The same number differs between Linux and Windows, and some Linux numbers changed their meaning
//! over the years, so a lookup takes the operating system and, if known, the date of the node image.
//! Names are found in every spelling that Azure uses.
//!
//! | file | contents |
//! |---|---|
//! | `data/*.toml` | the rows; `build.rs` checks, sorts and compiles them |
//! | `code`, `enums` | one row: an [`ExitCode`] with its [`Status`], [`Reach`], [`Category`], [`Owner`]… |
//! | `date`, `image_date` | a calendar day, and the day of an image version |
//! | `tables` | all rows, compiled |
//! | `lookup`, `names` | number or name → [`Meanings`] |
//! | `known_image` | images that are known to be broken |
//! | `page` | the page of a code |
//!
//! The facts were read from the public AgentBaker repository as of 2026-08-21.

mod code;
mod date;
mod enums;
mod image_date;
mod known_image;
mod lookup;
mod names;
mod page;
mod tables;

pub use code::{ExitCode, Since};
pub use date::Date;
pub use enums::{Category, Os, Owner, Reach, Status, Transient};
pub use image_date::{ImageDateError, image_date};
pub use known_image::{KnownImage, known_image};
pub use lookup::{Meanings, lookup, lookup_named};
pub use names::{by_name, code_names};
pub use page::{Section, known_image_page, page, sections, title};
pub use tables::all;
