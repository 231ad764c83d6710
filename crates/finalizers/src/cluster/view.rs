//! What was read since the last relevant change.

use std::cell::OnceCell;

use mooring_workflow::reading::{Named, Reading};

use super::contents::Contents;
use super::evidence::{Lease, OperatorEvent, WebhookState};
use super::helm::{ReleaseObject, Revision};
use super::observation::{Binding, Crd, LiveObject, Namespace, OperatorWorkload};

/// The results of reads: each is made at most once, and an empty one was not made.
#[derive(Debug, Default, Clone)]
pub struct OperatorView {
    /// All CRDs of the cluster.
    pub crds: OnceCell<Reading<Vec<Crd>>>,
    /// The objects of the profile's CRDs, by CRD.
    pub objects: Named<Vec<LiveObject>>,
    /// Workloads that may process finalizers.
    pub controllers: OnceCell<Reading<Vec<OperatorWorkload>>>,
    /// Leases that the operator may hold.
    pub leases: OnceCell<Reading<Vec<Lease>>>,
    pub events: OnceCell<Reading<Vec<OperatorEvent>>>,
    pub webhooks: OnceCell<Reading<Vec<WebhookState>>>,
    pub bindings: Named<Binding>,
    pub release: OnceCell<Reading<Vec<Revision>>>,
    /// Existing objects of the latest revision's manifest.
    pub made: OnceCell<Reading<Vec<ReleaseObject>>>,
    pub namespace: OnceCell<Reading<Namespace>>,
    /// All objects of the namespace.
    pub contents: OnceCell<Reading<Contents>>,
}

pub(crate) fn known<T>(reading: Option<&Reading<Vec<T>>>) -> &[T] {
    reading.and_then(Reading::known).map(Vec::as_slice).unwrap_or_default()
}
