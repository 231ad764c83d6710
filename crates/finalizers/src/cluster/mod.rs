//! The state of the cluster as values. A failed read is *unknown*, never *none*.

mod listing;
mod reads;

use jiff::Timestamp;
use mooring_k8s::Client;
use mooring_workflow::{Clock, Reading};
use thiserror::Error;
use tokio::sync::OnceCell;

use crate::contents::Contents;
use crate::helm::Revision;
use crate::objects::{Binding, Crd, Namespace, Object, Workload};
use crate::profile::Profile;
use crate::signs::{Lease, OperatorEvent, Webhook};

/// What was read, or why it is unknown.
pub(crate) type Read<T> = Result<T, Unread>;

/// A failed read: its verb and resource, and the reason.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub(crate) enum Unread {
    #[error("access denied: missing permission {0} on {1}")]
    Denied(&'static str, String),
    #[error("{0} {1} could not be read ({2})")]
    Failed(&'static str, String, String),
    #[error("its CRD serves no version, so objects cannot be listed; set `served: true` and retry")]
    NotServed,
}

impl Unread {
    /// Returns the value of a reading; none if it is known not to exist.
    fn check<T>(verb: &'static str, resource: &str, reading: Reading<T>) -> Read<Option<T>> {
        let failed = |why| Self::Failed(verb, resource.to_owned(), why);
        match reading {
            Reading::Known(value) => Ok(Some(value)),
            Reading::NotFound => Ok(None),
            Reading::Denied(_) => Err(Self::Denied(verb, resource.to_owned())),
            Reading::Failed(why) | Reading::Throttled(why) => Err(failed(why)),
            Reading::NotAsked => Err(failed("not asked".to_owned())),
        }
    }

    /// Returns the failure as that of another read, which depends on this one.
    fn also(&self, verb: &'static str, resource: &str) -> Self {
        match self {
            Self::Denied(..) => Self::Denied(verb, resource.to_owned()),
            Self::Failed(_, _, why) => Self::Failed(verb, resource.to_owned(), why.clone()),
            Self::NotServed => Self::NotServed,
        }
    }
}

/// A read that is made at most once.
pub(crate) type Once<T> = OnceCell<Read<T>>;

/// The results of reads; an empty one was not made.
#[derive(Debug, Default, Clone)]
pub(crate) struct OperatorView {
    /// All CRDs of the cluster.
    pub(crate) crds: Once<Vec<Crd>>,
    /// The objects of each of the profile's CRDs.
    pub(crate) objects: OnceCell<Vec<(Crd, Read<Vec<Object>>)>>,
    /// Workloads that may process finalizers.
    pub(crate) workloads: Once<Vec<Workload>>,
    /// Leases that the operator may hold.
    pub(crate) leases: Once<Vec<Lease>>,
    pub(crate) events: Once<Vec<OperatorEvent>>,
    pub(crate) webhooks: Once<Vec<Webhook>>,
    pub(crate) bindings: OnceCell<Vec<(String, Read<Option<Binding>>)>>,
    pub(crate) revisions: Once<Vec<Revision>>,
    /// Existing objects of the latest revision's manifest.
    pub(crate) made: Once<Vec<Object>>,
    pub(crate) namespace: Once<Option<Namespace>>,
    /// All objects of the namespace.
    pub(crate) contents: Once<Option<Contents>>,
}

impl OperatorView {
    /// Returns the CRDs of the profile, with their objects.
    pub(crate) fn objects(&self) -> &[(Crd, Read<Vec<Object>>)] {
        self.objects.get().map(Vec::as_slice).unwrap_or_default()
    }

    /// Returns the objects that are known.
    pub(crate) fn known_objects(&self) -> impl Iterator<Item = &Object> {
        self.objects().iter().flat_map(|(_, read)| read.iter().flatten())
    }

    pub(crate) fn bindings(&self) -> &[(String, Read<Option<Binding>>)] {
        self.bindings.get().map(Vec::as_slice).unwrap_or_default()
    }
}

/// Returns a list as far as it is known.
pub(crate) fn all<T>(read: &Once<Vec<T>>) -> &[T] {
    read.get().and_then(|read| read.as_deref().ok()).unwrap_or_default()
}

/// Returns why something is unknown; none if it is known.
pub(crate) fn unknown<T>(read: &Once<T>) -> Option<String> {
    match read.get() {
        Some(read) => read.as_ref().err().map(Unread::to_string),
        None => Some("it was not read".to_owned()),
    }
}

/// The cluster of an operator, with what was read of it.
#[derive(Clone)]
pub(crate) struct OperatorCluster {
    pub(crate) api: Client,
    pub(crate) profile: Profile,
    /// Namespace and name of the journal's Lease, which does not belong to the operator although it has its name.
    pub(crate) lock: [String; 2],
    pub(crate) clock: Clock,
    pub(crate) view: OperatorView,
}

impl OperatorCluster {
    pub(crate) fn now(&self) -> Timestamp {
        (self.clock)()
    }
}
