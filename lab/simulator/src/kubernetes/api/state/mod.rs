//! State of the API server, without the verbs that change it.

mod catalog;
mod error;
mod options;
mod schema;
mod watches;
mod writes;

pub(crate) use catalog::{
    CRDS, Catalog, Custom, CustomColumn, Resource, ResourceOrigin, api_path, api_version,
};
pub use error::StatusError;
pub(crate) use error::{ApiResult, FieldError};
pub use options::{Delays, KubernetesOptions, User, WebhookDenial};
pub(crate) use schema::{ListType, Schema};
pub(crate) use watches::{ObjectForm, ObjectWatch};
pub use writes::RecordedWrite;
pub(crate) use writes::{CLUSTER, ChangeQueue, ObjectPart, WriteContext};

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use jiff::Timestamp;

use crate::faults::Faults;
use crate::kubernetes::store::ObjectStore;
use crate::random::Random;

/// An API server: its objects, resources and clients.
pub struct ApiServer {
    pub(crate) options: KubernetesOptions,
    pub(crate) store: ObjectStore,
    pub(crate) catalog: Catalog,
    /// Open watches by table.
    pub(crate) watches: BTreeMap<String, Vec<ObjectWatch>>,
    pub(crate) tokens: BTreeMap<String, User>,
    pub(crate) denials: Vec<WebhookDenial>,
    pub(crate) uids: Random,
    pub(crate) names: Random,
    /// Fault rules; those about watch events apply where an event is sent.
    pub(crate) faults: Faults,
    pub(crate) writes: VecDeque<RecordedWrite>,
    pub(crate) changed: ChangeQueue,
    /// Tables of CRDs that are being deleted.
    pub(crate) removed_definitions: BTreeSet<String>,
    /// Latest time given to the server.
    pub(crate) now: Option<Timestamp>,
}

impl ApiServer {
    pub(crate) fn new(options: KubernetesOptions) -> Self {
        let random = Random::new(options.seed);
        Self {
            store: ObjectStore::new(options.history),
            catalog: Catalog::built_in(),
            watches: BTreeMap::new(),
            tokens: BTreeMap::new(),
            denials: Vec::new(),
            uids: random.fork("uids"),
            names: random.fork("names"),
            faults: Faults::new(options.faults.clone(), &random, options.start),
            writes: VecDeque::new(),
            changed: ChangeQueue::default(),
            removed_definitions: BTreeSet::new(),
            now: None,
            options,
        }
    }
}
