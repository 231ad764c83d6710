//! What was read about permissions, locks and deny assignments.

use std::collections::BTreeMap;

use mooring_arm::calls::{DenyAssignment, Lock, Permission};
use mooring_workflow::Reading;

/// What was read about rights, each by the scope at which it was read.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Rights {
    /// The object id of the caller, if its token names it.
    pub caller: Option<String>,
    /// What the caller's roles give.
    pub permissions: BTreeMap<String, Reading<Vec<Permission>>>,
    pub locks: BTreeMap<String, Reading<Vec<Lock>>>,
    pub deny_assignments: BTreeMap<String, Reading<Vec<DenyAssignment>>>,
}
