//! Causes in the tables.

use mooring_codes::{Owner, Transient};

use crate::cause::stage::Stage;

#[derive(Debug)]
pub(crate) struct Cause {
    /// Stable `PascalCase` name for labels and conditions.
    pub(crate) reason: &'static str,
    pub(crate) stage: Stage,
    pub(crate) owner: Owner,
    pub(crate) retry: Transient,
    /// First sign that an operator sees, if it differs from that of the stage and the codes.
    pub(crate) symptom: Option<&'static str>,
    pub(crate) summary: &'static str,
    pub(crate) actions: &'static [&'static str],
}
