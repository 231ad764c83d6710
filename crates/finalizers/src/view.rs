//! Questions to the cluster, and what was answered.

use std::collections::BTreeMap;

use mooring_workflow::workflow::View;
use serde_json::Value;

use super::evidence::{Lease, OperatorEvent, WebhookState};
use super::helm::{ReleaseObject, Revision};
use super::observation::{Binding, Controller, Definition, Namespace, Object};
use mooring_workflow::Reading;

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Query {
    /// All definitions of the cluster.
    Definitions,
    Objects(Box<Definition>),
    /// One object, whole, by its path.
    Whole(String),
    /// The workloads that may process finalizers.
    Controllers,
    /// Leases that the operator may hold.
    Leases,
    /// Events that the operator reported.
    Events,
    /// Webhooks for the operator's groups.
    Webhooks,
    /// A cluster role binding.
    Binding(String),
    Release,
    /// What of the newest revision's manifest is there.
    ReleaseObject,
    Namespace,
}

#[derive(Debug)]
#[expect(missing_docs, reason = "each answers the question of its name")]
pub enum Answer {
    Definitions(Reading<Vec<Definition>>),
    Objects(String, Reading<Vec<Object>>),
    Whole(String, Reading<Value>),
    Controllers(Reading<Vec<Controller>>),
    Leases(Reading<Vec<Lease>>),
    Events(Reading<Vec<OperatorEvent>>),
    Webhooks(Reading<Vec<WebhookState>>),
    Binding(String, Reading<Binding>),
    Release(Reading<Vec<Revision>>),
    ReleaseObject(Reading<Vec<ReleaseObject>>),
    Namespace(Reading<Namespace>),
}

/// The results of the reads since the last change that matters.
#[derive(Debug, Default, Clone)]
#[expect(missing_docs, reason = "each is the answer to the question of its name")]
pub struct OperatorView {
    pub definitions: Option<Reading<Vec<Definition>>>,
    pub objects: BTreeMap<String, Reading<Vec<Object>>>,
    pub whole: BTreeMap<String, Reading<Value>>,
    pub controllers: Option<Reading<Vec<Controller>>>,
    pub leases: Option<Reading<Vec<Lease>>>,
    pub events: Option<Reading<Vec<OperatorEvent>>>,
    pub webhooks: Option<Reading<Vec<WebhookState>>>,
    pub bindings: BTreeMap<String, Reading<Binding>>,
    pub release: Option<Reading<Vec<Revision>>>,
    pub made: Option<Reading<Vec<ReleaseObject>>>,
    pub namespace: Option<Reading<Namespace>>,
}

impl View<Query, Answer> for OperatorView {
    fn has(&self, query: &Query) -> bool {
        match query {
            Query::Definitions => self.definitions.is_some(),
            Query::Objects(definition) => self.objects.contains_key(definition.name()),
            Query::Whole(path) => self.whole.contains_key(path),
            Query::Controllers => self.controllers.is_some(),
            Query::Leases => self.leases.is_some(),
            Query::Events => self.events.is_some(),
            Query::Webhooks => self.webhooks.is_some(),
            Query::Binding(name) => self.bindings.contains_key(name),
            Query::Release => self.release.is_some(),
            Query::ReleaseObject => self.made.is_some(),
            Query::Namespace => self.namespace.is_some(),
        }
    }

    fn take(&mut self, answer: Answer) {
        match answer {
            Answer::Definitions(reading) => self.definitions = Some(reading),
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
        }
    }

    /// A list is of perhaps a thousand objects: what was acted upon since it was read counts as handled until the next
    /// one. Whole objects are large, and each is needed once.
    fn keep(&mut self) -> bool {
        self.whole.clear();
        true
    }
}

/// The entries of a list that could be read.
pub(crate) fn known<T>(reading: Option<&Reading<Vec<T>>>) -> &[T] {
    reading.and_then(Reading::known).map(Vec::as_slice).unwrap_or_default()
}
