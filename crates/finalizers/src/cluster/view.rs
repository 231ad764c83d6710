//! Queries, and their results.

use std::collections::BTreeMap;

use mooring_workflow::workflow::View;
use serde_json::Value;

use super::contents::Contents;
use super::evidence::{Lease, OperatorEvent, WebhookState};
use super::helm::{ReleaseObject, Revision};
use super::observation::{Binding, Crd, LiveObject, Namespace, OperatorWorkload};
use mooring_workflow::Reading;

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Query {
    /// All CRDs of the cluster.
    Crds,
    Objects(Box<Crd>),
    /// One whole object, by its path.
    Whole(String),
    /// Workloads that may process finalizers.
    Controllers,
    /// Leases that the operator may hold.
    Leases,
    Events,
    Webhooks,
    Binding(String),
    Release,
    /// Existing objects of the latest revision's manifest.
    ReleaseObject,
    Namespace,
    /// All objects of the namespace.
    Contents,
}

#[derive(Debug)]
pub enum Answer {
    Crds(Reading<Vec<Crd>>),
    Objects(String, Reading<Vec<LiveObject>>),
    Whole(String, Reading<Value>),
    Controllers(Reading<Vec<OperatorWorkload>>),
    Leases(Reading<Vec<Lease>>),
    Events(Reading<Vec<OperatorEvent>>),
    Webhooks(Reading<Vec<WebhookState>>),
    Binding(String, Reading<Binding>),
    Release(Reading<Vec<Revision>>),
    ReleaseObject(Reading<Vec<ReleaseObject>>),
    Namespace(Reading<Namespace>),
    Contents(Reading<Contents>),
}

/// Results since the last relevant change.
#[derive(Debug, Default, Clone)]
pub struct OperatorView {
    pub crds: Option<Reading<Vec<Crd>>>,
    pub objects: BTreeMap<String, Reading<Vec<LiveObject>>>,
    pub whole: BTreeMap<String, Reading<Value>>,
    pub controllers: Option<Reading<Vec<OperatorWorkload>>>,
    pub leases: Option<Reading<Vec<Lease>>>,
    pub events: Option<Reading<Vec<OperatorEvent>>>,
    pub webhooks: Option<Reading<Vec<WebhookState>>>,
    pub bindings: BTreeMap<String, Reading<Binding>>,
    pub release: Option<Reading<Vec<Revision>>>,
    pub made: Option<Reading<Vec<ReleaseObject>>>,
    pub namespace: Option<Reading<Namespace>>,
    pub contents: Option<Reading<Contents>>,
}

impl View<Query, Answer> for OperatorView {
    fn has(&self, query: &Query) -> bool {
        match query {
            Query::Crds => self.crds.is_some(),
            Query::Objects(crd) => self.objects.contains_key(crd.name()),
            Query::Whole(path) => self.whole.contains_key(path),
            Query::Controllers => self.controllers.is_some(),
            Query::Leases => self.leases.is_some(),
            Query::Events => self.events.is_some(),
            Query::Webhooks => self.webhooks.is_some(),
            Query::Binding(name) => self.bindings.contains_key(name),
            Query::Release => self.release.is_some(),
            Query::ReleaseObject => self.made.is_some(),
            Query::Namespace => self.namespace.is_some(),
            Query::Contents => self.contents.is_some(),
        }
    }

    fn take(&mut self, answer: Answer) {
        match answer {
            Answer::Crds(reading) => self.crds = Some(reading),
            Answer::Objects(name, reading) => {
                self.objects.insert(name, reading);
            }
            Answer::Whole(path, reading) => {
                self.whole.insert(path, reading);
            }
            Answer::Controllers(reading) => self.controllers = Some(reading),
            Answer::Leases(reading) => self.leases = Some(reading),
            Answer::Events(reading) => self.events = Some(reading),
            Answer::Webhooks(reading) => self.webhooks = Some(reading),
            Answer::Binding(name, reading) => {
                self.bindings.insert(name, reading);
            }
            Answer::Release(reading) => self.release = Some(reading),
            Answer::ReleaseObject(reading) => self.made = Some(reading),
            Answer::Namespace(reading) => self.namespace = Some(reading),
            Answer::Contents(reading) => self.contents = Some(reading),
        }
    }

    /// Keeps lists, which may have thousands of objects: objects that were changed since count as handled until the next list.
    /// Whole objects are large, and each is needed once.
    fn keep(&mut self) -> bool {
        self.whole.clear();
        true
    }
}

pub(crate) fn known<T>(reading: Option<&Reading<Vec<T>>>) -> &[T] {
    reading.and_then(Reading::known).map(Vec::as_slice).unwrap_or_default()
}
