//! Causes in the tables.

use mooring_codes::Owner;

use crate::cause::stage::Stage;

#[derive(Debug)]
pub(crate) struct Cause {
    /// Stable `PascalCase` name for labels and conditions.
    pub(crate) reason: &'static str,
    pub(crate) stage: Stage,
    pub(crate) owner: Owner,
    pub(crate) summary: &'static str,
    pub(crate) actions: &'static [&'static str],
}
