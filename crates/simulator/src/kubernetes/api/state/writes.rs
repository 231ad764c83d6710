//! Writes: their author, the log of those that took effect, and the queue of what controllers have to check.

use std::collections::BTreeSet;

use jiff::Timestamp;

use crate::kubernetes::store::Place;
use crate::kubernetes::store::objects::Key;

/// The field manager of what the cluster writes itself.
pub(crate) const CLUSTER: &str = "cluster";
/// A write that took effect.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Write {
    pub at: Timestamp,
    /// The resource, as `nodeclaims.karpenter.sh`.
    pub resource: String,
    pub key: Key,
    /// The object's uid, which tells apart objects of one name.
    pub uid: String,
    /// `create`, `update`, `patch`, `delete` …; `cluster` when the cluster behind the API did it.
    pub verb: &'static str,
    pub subresource: String,
    pub user: String,
    /// The field manager, or the first word of the user agent.
    pub manager: String,
    /// The revision that it made.
    pub revision: u64,
    /// Whether the object was gone after it.
    pub removed: bool,
}

/// Which part of an object a write is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Part {
    /// All but the status, where that is a part of its own.
    Main,
    Status,
}

/// Who writes, and how.
#[derive(Debug, Clone)]
pub(crate) struct Writer {
    pub(crate) user: String,
    pub(crate) manager: String,
    pub(crate) verb: &'static str,
    pub(crate) subresource: String,
    pub(crate) dry_run: bool,
    /// Server-side apply keeps its own account of fields.
    pub(crate) applies: bool,
    pub(crate) now: Timestamp,
}

impl Writer {
    /// A client in process, by its field manager.
    pub(crate) fn local(manager: &str, now: Timestamp) -> Self {
        let user = "system:cluster".to_owned();
        Self { user, manager: manager.to_owned(), ..Self::controller(now) }
    }

    /// The cluster's own writes through the API.
    pub(crate) fn cluster(now: Timestamp) -> Self {
        Self::local(CLUSTER, now)
    }

    /// Controllers that write to the store directly.
    pub(crate) fn controller(now: Timestamp) -> Self {
        Self {
            user: String::new(),
            manager: String::new(),
            verb: CLUSTER,
            subresource: String::new(),
            dry_run: false,
            applies: false,
            now,
        }
    }
}

/// Objects that changed, and those that a change may concern, in order.
#[derive(Debug, Default)]
pub(crate) struct ChangeQueue(pub(crate) BTreeSet<Place>);

impl ChangeQueue {
    pub(crate) fn of<'a>(&'a self, table: &'a str) -> impl Iterator<Item = &'a Key> {
        self.all().filter(move |place| place.table == table).map(|place| &place.key)
    }

    pub(crate) fn all(&self) -> impl Iterator<Item = &Place> {
        self.0.iter()
    }

    pub(crate) fn concerns(&self, table: &str) -> bool {
        self.of(table).next().is_some()
    }
}
