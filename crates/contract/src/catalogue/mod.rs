//! The exit-code catalogue: what a number in a node's report means, and who should do what.
//!
//! A number alone is not enough. The same number differs between Linux and Windows, and some Linux
//! numbers changed hands over the years, so a look-up takes the operating system and, when known,
//! the date of the node image. Names are found in every spelling that Azure's texts use.
//!
//! | file | idea |
//! |---|---|
//! | `code` | one row: an [`ExitCode`], and since when it holds |
//! | `words` | the small vocabularies of a row: [`Status`], [`Reach`], [`Category`], [`Owner`]… |
//! | `date`, `image_date` | a calendar day, and the day that an image version names |
//! | `index` | all rows, put in order when the crate is compiled |
//! | `lookup` | number → [`Meanings`] |
//! | `names` | name → [`Meanings`] |
//! | `history` | who held a number, period by period |
//! | `known_image` | images that are known to be broken |
//! | `page` | the page that an operator reads |
//! | `data` | the rows themselves |
//!
//! The facts were read from the public AgentBaker repository as of 2026-08-21.

mod code;
mod data;
mod date;
mod history;
mod image_date;
mod index;
mod known_image;
mod lookup;
mod names;
mod page;
mod words;

pub use code::{ExitCode, Since};
pub use date::Date;
pub use history::{Period, history};
pub use image_date::{ImageDateError, image_date};
pub use index::all;
pub use known_image::{KnownImage, known_image};
pub use lookup::{Meanings, lookup, lookup_named};
pub use names::by_name;
pub use page::{known_image_page, page};
pub use words::{Category, Os, Owner, Reach, Status, Transient};
