use std::sync::Arc;

use bytes::Bytes;
use futures::channel::mpsc::UnboundedSender;
use jiff::Timestamp;

use super::catalog::Resource;
use crate::faults::Fault;
use crate::kubernetes::store::{ChangeKind, ObjectChange, Selector, StoredObject};

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
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ObjectForm {
    Whole,
    Metadata,
    Table,
}

impl ObjectWatch {
    /// Sends an event, with a fault of its delivery.
    pub(crate) fn send(&mut self, line: Bytes, fault: Option<&Fault>) {
        // A send fails after the client disconnected; the watch is swept then.
        match fault {
            Some(Fault::DropWatch) => self.sender.close_channel(),
            Some(Fault::ReorderEvent) if self.held.is_none() => self.held = Some(line),
            _ => {
                if fault == Some(&Fault::DuplicateEvent) {
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
    pub(crate) fn sees(&self, change: &ObjectChange) -> Option<&'static str> {
        if self.namespace.as_ref().is_some_and(|namespace| change.key.namespace != *namespace) {
            return None;
        }
        let fits = |object: &StoredObject| self.selector.fits(&object.value);
        let before = change.previous.as_deref().is_some_and(fits);
        let after = change.kind != ChangeKind::Deleted && fits(&change.object);
        match (before, after) {
            (false, false) => None,
            (false, true) => Some("ADDED"),
            (true, true) => Some("MODIFIED"),
            (true, false) => Some("DELETED"),
        }
    }
}
