//! Questions to the cluster, and what was answered.

use std::collections::BTreeMap;

use mooring_workflow::workflow::View;
use serde_json::Value;

use super::evidence::{Lease, OperatorEvent, WebhookState};
use super::helm::{Made, Revision};
use super::observation::{Binding, Controller, Definition, Namespace, Object};
use super::profile::Profile;
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
    Made,
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
    Made(Reading<Vec<Made>>),
    Namespace(Reading<Namespace>),
}

/// What was seen since the last change that matters.
#[derive(Debug, Default, Clone)]
#[expect(missing_docs, reason = "each is the answer to the question of its name")]
pub struct Seen {
    pub definitions: Option<Reading<Vec<Definition>>>,
    pub objects: BTreeMap<String, Reading<Vec<Object>>>,
    pub whole: BTreeMap<String, Reading<Value>>,
    pub controllers: Option<Reading<Vec<Controller>>>,
    pub leases: Option<Reading<Vec<Lease>>>,
    pub events: Option<Reading<Vec<OperatorEvent>>>,
    pub webhooks: Option<Reading<Vec<WebhookState>>>,
    pub bindings: BTreeMap<String, Reading<Binding>>,
    pub release: Option<Reading<Vec<Revision>>>,
    pub made: Option<Reading<Vec<Made>>>,
    pub namespace: Option<Reading<Namespace>>,
}

impl Seen {
    /// What must still be asked before everything is known that a profile speaks of; whole objects are not part of it.
    pub fn missing(&self, profile: &Profile) -> Option<Query> {
        if !profile.groups.is_empty() {
            let Some(definitions) = &self.definitions else { return Some(Query::Definitions) };
            let ours = definitions.known().into_iter().flatten();
            let unasked = ours
                .filter(|one| profile.has_group(&one.group) && one.version.is_some())
                .find(|one| !self.objects.contains_key(one.name()));
            if let Some(definition) = unasked {
                return Some(Query::Objects(Box::new(definition.clone())));
            }
        }
        if self.controllers.is_none() {
            return Some(Query::Controllers);
        }
        if self.leases.is_none() {
            return Some(Query::Leases);
        }
        if self.events.is_none() {
            return Some(Query::Events);
        }
        if self.webhooks.is_none() {
            return Some(Query::Webhooks);
        }
        let unasked =
            profile.cluster_role_bindings.iter().find(|name| !self.bindings.contains_key(*name));
        if let Some(name) = unasked {
            return Some(Query::Binding(name.clone()));
        }
        if profile.release.is_some() {
            if self.release.is_none() {
                return Some(Query::Release);
            }
            if self.made.is_none() {
                return Some(Query::Made);
            }
        }
        if profile.namespace.is_some() && self.namespace.is_none() {
            return Some(Query::Namespace);
        }
        None
    }
}

impl View<Answer> for Seen {
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
            Answer::Made(reading) => self.made = Some(reading),
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
