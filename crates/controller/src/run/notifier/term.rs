//! Alerts and notifications of a term.

use std::sync::Arc;

use crate::notify::Alert;
use crate::notify::ledger::Ledger;

/// All open alerts of a term.
#[derive(Clone, Debug)]
pub(in crate::run) struct OpenAlerts {
    pub(in crate::run) term: u64,
    pub(in crate::run) alerts: Arc<Vec<Alert>>,
}

/// State of a term.
pub(super) struct Term {
    pub(super) number: u64,
    pub(super) ledger: Ledger,
    /// Ledger as last read or written.
    pub(super) stored: Ledger,
    pub(super) version: Option<String>,
    /// False if the `ConfigMap` is unreadable: it is not changed.
    pub(super) is_writable: bool,
}
