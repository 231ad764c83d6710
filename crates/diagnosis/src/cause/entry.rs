//! One cause of the tables.

use mooring_codes::Owner;

use crate::cause::stage::Stage;

/// Why a node or a pool does not come up.
#[derive(Debug)]
pub(crate) struct Cause {
    /// The stable word in Pascal case for labels and conditions.
    pub(crate) reason: &'static str,
    pub(crate) stage: Stage,
    pub(crate) owner: Owner,
    pub(crate) summary: &'static str,
    pub(crate) actions: &'static [&'static str],
}
