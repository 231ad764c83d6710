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
    /// When.
    pub at: Timestamp,
    /// The resource, as `nodeclaims.karpenter.sh`.
    pub resource: String,
    /// The object.
    pub key: Key,
    /// The object's uid, which tells apart objects of one name.
    pub uid: String,
    /// `create`, `update`, `patch`, `delete` …; `cluster` when the cluster behind the API did it.
    pub verb: &'static str,
    /// `status`, or empty.
    pub subresource: String,
    /// The user's name.
    pub user: String,
    /// The field manager, or the first word of the user agent.
    pub manager: String,
    /// The revision that it made.
    pub revision: u64,
    /// Whether the object was gone after it.
    pub removed: bool,
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
}

impl Writer {
    /// The cluster behind the API, and the glue around it.
    pub(crate) fn cluster() -> Self {
        Self::by(CLUSTER)
    }

    /// The same on behalf of a client, by its field manager.
    pub(crate) fn by(manager: &str) -> Self {
        Self {
            user: "system:cluster".to_owned(),
            manager: manager.to_owned(),
            verb: "cluster",
            subresource: String::new(),
            dry_run: false,
            applies: false,
        }
    }
}

/// Objects that changed, and those that a change may concern, in order.
#[derive(Debug, Default)]
pub(crate) struct ChangeQueue(pub(crate) BTreeSet<Place>);

impl ChangeQueue {
    /// The objects of one table.
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
