//! Watches: changes, sent to clients as they happen.

use std::sync::Arc;

use bytes::{BufMut, Bytes, BytesMut};
use futures::StreamExt as _;
use futures::channel::mpsc::{UnboundedReceiver, unbounded};
use http::StatusCode;
use jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};

use super::list::too_old;
use super::selectors::selector;
use crate::exchange::{Body, Response};
use crate::faults::{self, Fault, Faults, ServiceName};
use crate::kubernetes::api::negotiate::{ResourceRequest, converted, shown, table, with_type};
use crate::kubernetes::api::state::{
    ApiResult, ApiServer, Delivery, ObjectForm, ObjectWatch, Resource, StatusError,
};
use crate::kubernetes::store::{ObjectChange, StoredObject};

impl ObjectWatch {
    /// Returns the line of a change; an object that left the selector keeps its value, with the
    /// revision at which it left.
    fn change_line(
        &mut self,
        change: &ObjectChange,
        kind: &str,
        left: bool,
        now: Timestamp,
    ) -> Bytes {
        let previous = change.previous.as_ref().filter(|_| left);
        let last = previous.map(|previous| previous.at_revision(change.revision()));
        self.line(kind, last.as_ref().unwrap_or(&change.object), now)
    }

    fn line(&mut self, kind: &str, object: &Arc<StoredObject>, now: Timestamp) -> Bytes {
        match self.form {
            ObjectForm::Whole => event_line(kind, &shown(&self.resource, object)),
            ObjectForm::Metadata => {
                event_line(kind, table::metadata_of(&object.value).to_string().as_bytes())
            }
            ObjectForm::Table(format) => {
                let first = !self.started;
                self.started = true;
                let metadata = json!({"resourceVersion": object.revision.to_string()});
                let values = [converted(&self.resource, &object.value)];
                let table = table::of(&self.resource, &values, format, now, first, &metadata);
                event_line(kind, table.to_string().as_bytes())
            }
        }
    }
}

impl ObjectWatch {
    /// Returns a bookmark in this watch's form; tables have none.
    fn bookmark_line(&self, revision: u64, ends_initial: bool) -> Option<Bytes> {
        let mut object = json!({
            "kind": self.resource.kind, "apiVersion": self.resource.api_version(),
            "metadata": {"resourceVersion": revision.to_string(), "creationTimestamp": Value::Null},
        });
        if ends_initial {
            object["metadata"]["annotations"] = json!({"k8s.io/initial-events-end": "true"});
        }
        match self.form {
            ObjectForm::Whole => {}
            ObjectForm::Metadata => object = table::metadata_of(&object),
            ObjectForm::Table(_) => return None,
        }
        Some(event_line("BOOKMARK", object.to_string().as_bytes()))
    }
}

fn event_line(kind: &str, object: &[u8]) -> Bytes {
    let mut line = BytesMut::with_capacity(object.len() + 40);
    line.put_slice(format!(r#"{{"type":"{kind}","object":"#).as_bytes());
    line.put_slice(object);
    line.put_slice(b"}\n");
    line.freeze()
}

impl ApiServer {
    pub(crate) fn serve_watch(&mut self, call: &ResourceRequest<'_>) -> ApiResult<Response> {
        let (now, target) = (call.now, &call.target);
        let selector = selector(call)?;
        let (sender, receiver) = unbounded();
        let seconds =
            call.query.number("timeoutSeconds").and_then(|seconds| i64::try_from(seconds).ok());
        let bookmarks = call.query.flag("allowWatchBookmarks");
        let mut watch = ObjectWatch {
            resource: Arc::clone(&target.resource),
            namespace: target.namespace.clone(),
            selector,
            form: call.form(),
            sender,
            ends: seconds
                .and_then(|seconds| now.checked_add(SignedDuration::from_secs(seconds)).ok()),
            bookmark: bookmarks.then(|| self.next_bookmark(now)),
            held: None,
            started: false,
        };
        let asked = match call.query.get("resourceVersion") {
            "" | "0" => None,
            text => Some(text.parse::<u64>().map_err(|_| {
                StatusError::bad_request(format!("invalid resource version {text:?}"))
            })?),
        };
        // The last bookmark comes shortly before the end, so that a client can resume.
        if let (Some(ends), Some(bookmark)) = (watch.ends, watch.bookmark) {
            let last = ends.checked_sub(SignedDuration::from_secs(2)).unwrap_or(ends);
            watch.bookmark = Some(bookmark.min(last.max(now)));
        }
        let initial = call.query.get("sendInitialEvents");
        let lists = if initial.is_empty() { asked.is_none() } else { initial == "true" };
        let goes_on = if lists {
            self.send_everything(&mut watch, now, initial == "true" && bookmarks);
            true
        } else {
            self.send_since(&mut watch, asked.unwrap_or(self.store.revision()), now)
        };
        if goes_on {
            self.watches.by_table.entry(target.resource.table.clone()).or_default().push(watch);
        }
        Ok(streaming(receiver))
    }

    fn send_everything(&self, watch: &mut ObjectWatch, now: Timestamp, marked: bool) {
        let table = watch.resource.table.clone();
        let namespace = watch.namespace.clone();
        for (_, object) in self.store.list(&table, namespace.as_deref()) {
            if watch.selector.is_everything() || watch.selector.fits(&object.value) {
                let line = watch.line("ADDED", object, now);
                watch.send(line, Delivery::Once);
            }
        }
        if marked && let Some(end) = watch.bookmark_line(self.store.revision(), true) {
            watch.send(end, Delivery::Once);
        }
    }

    /// Sends the changes since a revision; returns false after sending an error if the history does not reach back.
    fn send_since(&self, watch: &mut ObjectWatch, revision: u64, now: Timestamp) -> bool {
        let table = watch.resource.table.clone();
        let Some(changes) = self.store.changes_since(&table, revision) else {
            let error = too_old(revision, self.store.revision()).object();
            watch.send(event_line("ERROR", error.to_string().as_bytes()), Delivery::Once);
            return false;
        };
        for change in changes {
            if let Some((kind, left)) = watch.sees(change) {
                let line = watch.change_line(change, kind, left, now);
                watch.send(line, Delivery::Once);
            }
        }
        true
    }

    /// Sends a change to every matching watch. The line is serialized once for all watches of one form.
    pub(crate) fn publish(&mut self, table: &str, change: &ObjectChange, now: Timestamp) {
        let Some(watches) = self.watches.by_table.get_mut(table) else { return };
        let mut made: Vec<(String, &'static str, bool, Bytes)> = Vec::new();
        for watch in watches.iter_mut() {
            let Some((kind, left)) = watch.sees(change) else { continue };
            let delivery = next_delivery(&mut self.faults, &watch.resource, now);
            let version = watch.resource.api_version();
            let same = |one: &&(String, &'static str, bool, Bytes)| {
                watch.form == ObjectForm::Whole
                    && one.0 == version
                    && one.1 == kind
                    && one.2 == left
            };
            let line = match made.iter().find(same) {
                Some((.., line)) => line.clone(),
                None => watch.change_line(change, kind, left, now),
            };
            if watch.form == ObjectForm::Whole {
                made.push((version, kind, left, line.clone()));
            }
            watch.send(line, delivery);
        }
        watches.retain(|watch| !watch.sender.is_closed());
    }

    fn next_bookmark(&self, now: Timestamp) -> Timestamp {
        now.checked_add(self.options.delays.bookmark).unwrap_or(Timestamp::MAX)
    }

    /// Sends the bookmarks that are due, and ends watches that timed out.
    pub(crate) fn settle_watches(&mut self, now: Timestamp) {
        let revision = self.store.revision();
        let next = self.next_bookmark(now);
        for watches in self.watches.by_table.values_mut() {
            for watch in
                watches.iter_mut().filter(|watch| watch.bookmark.is_some_and(|due| due <= now))
            {
                let last =
                    watch.ends.and_then(|ends| ends.checked_sub(SignedDuration::from_secs(2)).ok());
                watch.bookmark = match last {
                    Some(last) if last <= now => None,
                    Some(last) => Some(next.min(last)),
                    None => Some(next),
                };
                if let Some(line) = watch.bookmark_line(revision, false) {
                    watch.send(line, Delivery::Once);
                }
            }
            watches.retain(|watch| {
                !watch.sender.is_closed() && watch.ends.is_none_or(|ends| ends > now)
            });
        }
    }

    pub(crate) fn next_watch_change(&self) -> Option<Timestamp> {
        self.watches
            .by_table
            .values()
            .flatten()
            .flat_map(|watch| [watch.ends, watch.bookmark])
            .flatten()
            .min()
    }

    pub(crate) fn end_watches(&mut self) {
        self.watches.by_table.clear();
    }

    pub(crate) fn end_watches_of(&mut self, table: &str) {
        self.watches.by_table.remove(table);
    }

    pub fn open_watches(&self) -> usize {
        self.watches.by_table.values().flatten().filter(|watch| !watch.sender.is_closed()).count()
    }
}

fn streaming(receiver: UnboundedReceiver<Bytes>) -> Response {
    with_type(StatusCode::OK, "application/json", Body::Stream(receiver.boxed()))
}

pub(crate) fn is_about_events(fault: &Fault) -> bool {
    matches!(fault, Fault::DropWatch | Fault::DuplicateEvent | Fault::ReorderEvent)
}

fn next_delivery(faults: &mut Faults, resource: &Resource, now: Timestamp) -> Delivery {
    let path = if resource.group.is_empty() {
        format!("/api/{}/{}", resource.version, resource.plural)
    } else {
        format!("/apis/{}/{}/{}", resource.group, resource.version, resource.plural)
    };
    let call = faults::MatchedCall {
        service: ServiceName::Kubernetes,
        method: "WATCH",
        path: &path,
        writes: false,
    };
    match faults.next_of(call, now, is_about_events) {
        Some(Fault::DropWatch) => Delivery::EndWatch,
        Some(Fault::DuplicateEvent) => Delivery::Twice,
        Some(Fault::ReorderEvent) => Delivery::AfterTheNext,
        _ => Delivery::Once,
    }
}
