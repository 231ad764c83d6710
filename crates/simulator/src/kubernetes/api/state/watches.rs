use std::collections::BTreeMap;
use std::sync::Arc;

use bytes::Bytes;
use futures::channel::mpsc::UnboundedSender;
use jiff::Timestamp;

use super::catalog::Resource;
use crate::kubernetes::store::{ChangeKind, ObjectChange, Selector, StoredObject};

/// Part of each object in a table's row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TableRows {
    Rows,
    WithMetadata,
    WithObjects,
}

#[derive(Default)]
pub(crate) struct Watches {
    pub(crate) by_table: BTreeMap<String, Vec<ObjectWatch>>,
}

pub(crate) struct ObjectWatch {
    pub(crate) resource: Arc<Resource>,
    pub(crate) namespace: Option<String>,
    pub(crate) selector: Selector,
    pub(crate) form: ObjectForm,
    /// Closed when the client disconnects; dropped to end the watch.
    pub(crate) sender: UnboundedSender<Bytes>,
    pub(crate) ends: Option<Timestamp>,
    pub(crate) bookmark: Option<Timestamp>,
    /// Event to be sent after the next one.
    pub(crate) held: Option<Bytes>,
    pub(crate) started: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ObjectForm {
    Whole,
    Metadata,
    Table(TableRows),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Delivery {
    Once,
    Twice,
    AfterTheNext,
    EndWatch,
}

impl ObjectWatch {
    pub(crate) fn send(&mut self, line: Bytes, delivery: Delivery) {
        // A send fails after the client disconnected; the watch is swept then.
        match delivery {
            Delivery::EndWatch => self.sender.close_channel(),
            Delivery::AfterTheNext if self.held.is_none() => self.held = Some(line),
            _ => {
                if delivery == Delivery::Twice {
                    let _ = self.sender.unbounded_send(line.clone());
                }
                let _ = self.sender.unbounded_send(line);
                if let Some(held) = self.held.take() {
                    let _ = self.sender.unbounded_send(held);
                }
            }
        }
    }

    /// Returns the event of a change for this watch: an object that leaves its selector is deleted for it.
    pub(crate) fn sees(&self, change: &ObjectChange) -> Option<(&'static str, bool)> {
        if self.namespace.as_ref().is_some_and(|namespace| change.key.namespace != *namespace) {
            return None;
        }
        let fits = |object: &StoredObject| {
            self.selector.is_everything() || self.selector.fits(&object.value)
        };
        let before = change.previous.as_deref().is_some_and(fits);
        let after = change.kind != ChangeKind::Deleted && fits(&change.object);
        match (before, after) {
            (false, false) => None,
            (false, true) => Some(("ADDED", false)),
            (true, true) => Some(("MODIFIED", false)),
            (true, false) => Some(("DELETED", change.kind != ChangeKind::Deleted)),
        }
    }
}
