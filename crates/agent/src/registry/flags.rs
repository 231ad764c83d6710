//! The parameters of a login, from the command line.

use std::path::PathBuf;
use std::time::Duration;

use crate::world::Url;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct LoginFlags {
    pub(crate) registry: String,
    /// None if a part of it is missing; a login is then impossible.
    pub(crate) identity: Option<Identity>,
    pub(crate) ca_file: Option<PathBuf>,
    pub(crate) registry_config: Option<PathBuf>,
    pub(crate) budget: Duration,
    pub(crate) attempt_timeout: Duration,
    pub(crate) registry_url: Url,
    pub(crate) imds_url: Url,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Identity {
    pub(crate) client_id: String,
    pub(crate) tenant_id: String,
}
