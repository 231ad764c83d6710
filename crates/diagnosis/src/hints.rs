//! What a caller knows about a text.

use mooring_codes::{Date, Os};

use crate::cause::CatalogRow;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Hints {
    /// Operating system of the node, for texts that do not show it.
    pub os: Option<Os>,
    /// Date of the node image; takes precedence over an image named in the text.
    pub image_date: Option<Date>,
    pub origin: Origin,
    /// Known error codes of Azure, sorted by name in lowercase.
    pub catalog: &'static [CatalogRow],
}

/// Where a text is from, for texts that do not show it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Origin {
    #[default]
    Unknown,
    /// The status of the bootstrap extension.
    Extension,
    /// The end of the bootstrap's report, whose exit code was read apart from it.
    Report { exit_code: i32 },
}
