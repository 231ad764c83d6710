use super::holder::Lock;

/// The result of an attempt to acquire or renew a lock.
#[derive(Debug)]
pub(crate) enum LockAttempt {
    Held,
    HeldBy(Lock),
    /// The next attempt may succeed.
    Failed(String),
}
