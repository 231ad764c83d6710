//! Permissions, locks and deny assignments of the caller.

use std::collections::BTreeMap;

use mooring_arm::calls::{DenyAssignment, Lock, Permission};
use mooring_workflow::Reading;

/// Permissions, locks and deny assignments, by the scope at which they were read.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct AccessRules {
    /// Object id of the caller, if its token has it.
    pub caller: Option<String>,
    pub permissions: BTreeMap<String, Reading<Vec<Permission>>>,
    pub locks: BTreeMap<String, Reading<Vec<Lock>>>,
    pub deny_assignments: BTreeMap<String, Reading<Vec<DenyAssignment>>>,
}
