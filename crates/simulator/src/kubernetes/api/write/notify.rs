//! The last step of a write: the log, and the queue of the controllers.

use jiff::Timestamp;

use crate::kubernetes::api::state::{ApiServer, Write, Writer};
use crate::kubernetes::store::objects;
use crate::kubernetes::store::{Change, ChangeKind, Place, owners};

/// How many writes are remembered.
const WRITES: usize = 100_000;

impl ApiServer {
    pub(crate) fn note_write(
        &mut self,
        table: &str,
        change: &Change,
        writer: Option<&Writer>,
        now: Timestamp,
    ) {
        if self.writes.len() == WRITES {
            self.writes.pop_front();
        }
        let text = |part: fn(&Writer) -> &str| writer.map_or("", part).to_owned();
        self.writes.push_back(Write {
            at: now,
            resource: table.to_owned(),
            key: change.key.clone(),
            uid: objects::uid(&change.object.value).to_owned(),
            verb: writer.map_or("cluster", |writer| writer.verb),
            subresource: text(|writer| &writer.subresource),
            user: text(|writer| &writer.user),
            manager: text(|writer| &writer.manager),
            revision: change.revision(),
            removed: change.kind == ChangeKind::Deleted,
        });
    }

    /// Queues a write for the controllers: the object, its owners, and what depends on it if it goes.
    pub(crate) fn note_work(&mut self, table: &str, change: &Change) {
        if !self.options.controllers {
            return;
        }
        let index = self.store.index();
        let work = &mut self.changed.0;
        work.insert(Place::new(table, &change.key));
        for object in change.previous.iter().chain([&change.object]) {
            work.extend(owners(&object.value).filter_map(|uid| index.place_of(uid)).cloned());
        }
        let value = &change.object.value;
        if change.kind == ChangeKind::Deleted || objects::is_being_deleted(value) {
            work.extend(index.dependents(objects::uid(value)).cloned());
        }
    }
}
