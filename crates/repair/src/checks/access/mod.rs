//! Permissions, locks and deny assignments that the steps of a repair depend on.

pub(super) mod deny_assignments;
pub(super) mod locks;
pub(super) mod needs;
pub(super) mod permissions;

#[cfg(test)]
mod tests;
