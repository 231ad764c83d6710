//! Machines before they exist, and extensions that they do not have yet.

use jiff::Timestamp;
use serde_json::Value;

use super::cse::Cse;

/// What a machine is, at the instant at which it appears.
#[derive(Debug, Clone)]
pub(crate) struct Birth {
    /// The id of the machine.
    pub(crate) id: String,
    pub(crate) extensions: Extensions,
    /// The reference to its node image.
    pub(crate) image: Value,
    pub(crate) size: String,
    pub(crate) zone: Option<String>,
    pub(crate) computer_name: String,
    pub(crate) subnet: String,
    pub(crate) tags: Value,
    pub(crate) created: Timestamp,
    pub(crate) life: Life,
    pub(crate) cse: Cse,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Life {
    /// It boots, its bootstrap runs, its node may register.
    Boots,
    /// All of that is long past.
    Grown,
    /// It never gets an address, so nothing of it ever happens.
    NoNetwork,
}

/// Who creates a machine's extensions, and when.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Extensions {
    /// AKS, together with the machine: the one that runs the bootstrap.
    AtBirth(&'static str),
    /// Karpenter, after the machine's own operation: the bootstrap's, if there is one, and then the one for billing.
    Later {
        cse: Option<&'static str>,
        /// Whether they come only by `Azure::keep_promise`; otherwise they come by themselves.
        promised: bool,
    },
}

/// Extensions that a machine does not have yet.
#[derive(Debug, Clone)]
pub(crate) struct Promise {
    /// The bootstrap's, until it is created.
    pub(crate) cse: Option<(&'static str, Cse)>,
    pub(crate) promised: bool,
}
