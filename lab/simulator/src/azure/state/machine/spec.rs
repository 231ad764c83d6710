//! VMs to be created, and their later extensions.

use jiff::Timestamp;
use serde_json::Value;

use super::cse::Cse;

#[derive(Debug, Clone)]
pub(crate) struct VmSpec {
    pub(crate) id: String,
    pub(crate) extensions: Extensions,
    pub(crate) image: Value,
    pub(crate) size: String,
    pub(crate) zone: Option<String>,
    pub(crate) computer_name: String,
    pub(crate) subnet: String,
    pub(crate) tags: Value,
    pub(crate) created: Timestamp,
    /// End of a bootstrap that finished long ago.
    pub(crate) ended: Timestamp,
    pub(crate) life: BootMode,
    pub(crate) cse: Cse,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum BootMode {
    /// It boots, its bootstrap runs, its node may register.
    Boots,
    /// All of that happened long ago.
    Grown,
    /// It never gets an address, so nothing else happens.
    NoNetwork,
}

/// Creation of a VM's extensions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Extensions {
    /// AKS creates the bootstrap extension together with the VM.
    AtBirth(&'static str),
    /// Karpenter creates the bootstrap extension, if any, after the VM's own operation, and then the billing extension.
    Later {
        cse: Option<&'static str>,
        /// Created only by `Azure::keep_promise`.
        promised: bool,
    },
}

/// Extensions that a VM does not have yet.
#[derive(Debug, Clone)]
pub(crate) struct Promise {
    /// Bootstrap extension, until it is created.
    pub(crate) cse: Option<(&'static str, Cse)>,
    pub(crate) promised: bool,
}
