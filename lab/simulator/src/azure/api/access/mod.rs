//! Sign-in, throttling, role and deny assignments, linked resources, locks.

mod assertion;
mod authorize;
mod deny_assignments;
mod linked;
mod locks;
mod roles;
pub(crate) mod sign_in;
mod throttle;
