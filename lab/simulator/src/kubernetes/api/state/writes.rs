//! Writes: their author, the log of those that took effect, and the queue for controllers.

use std::collections::BTreeSet;

use jiff::Timestamp;

use crate::kubernetes::store::ObjectKey;
use crate::kubernetes::store::objects::Key;

/// Field manager of the cluster's own writes.
pub(crate) const CLUSTER: &str = "cluster";
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RecordedWrite {
    pub at: Timestamp,
    /// For example `nodeclaims.karpenter.sh`.
    pub resource: String,
    pub key: Key,
    /// Distinguishes objects of one name.
    pub uid: String,
    /// `create`, `update`, `patch`, `delete` …; `cluster` for the cluster's own writes.
    pub verb: &'static str,
    pub subresource: String,
    pub user: String,
    /// Field manager, or the first token of the user agent.
    pub manager: String,
    pub revision: u64,
    pub removed: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ObjectPart {
    /// All but the status, if that is a subresource.
    Main,
    Status,
}

#[derive(Debug, Clone)]
pub(crate) struct WriteContext {
    pub(crate) user: String,
    pub(crate) manager: String,
    pub(crate) verb: &'static str,
    pub(crate) subresource: &'static str,
    pub(crate) dry_run: bool,
    pub(crate) now: Timestamp,
}

impl WriteContext {
    /// Returns a client in process, by its field manager.
    pub(crate) fn local(manager: &str, now: Timestamp) -> Self {
        let user = "system:cluster".to_owned();
        Self { user, manager: manager.to_owned(), ..Self::controller(now) }
    }

    /// Returns the author of the cluster's writes through the API.
    pub(crate) fn cluster(now: Timestamp) -> Self {
        Self::local(CLUSTER, now)
    }

    /// Returns the author of controllers' direct writes to the store.
    pub(crate) fn controller(now: Timestamp) -> Self {
        Self {
            user: String::new(),
            manager: String::new(),
            verb: CLUSTER,
            subresource: "",
            dry_run: false,
            now,
        }
    }
}

/// Changed objects, and those that a change may affect, in order.
#[derive(Debug, Default)]
pub(crate) struct ChangeQueue(pub(crate) BTreeSet<ObjectKey>);

impl ChangeQueue {
    pub(crate) fn of<'a>(&'a self, table: &'a str) -> impl Iterator<Item = &'a Key> {
        self.all().filter(move |place| place.table == table).map(|place| &place.key)
    }

    pub(crate) fn all(&self) -> impl Iterator<Item = &ObjectKey> {
        self.0.iter()
    }

    pub(crate) fn concerns(&self, table: &str) -> bool {
        self.of(table).next().is_some()
    }
}
