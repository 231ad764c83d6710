//! Watches: changes, sent to clients as they happen.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use bytes::{BufMut, Bytes, BytesMut};
use futures::StreamExt as _;
use futures::channel::mpsc::unbounded;
use http::StatusCode;
use jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};

use super::list::too_old;
use super::selector;
use crate::exchange::{Body, Response};
use crate::faults::{Fault, MatchedCall, ServiceName};
use crate::kubernetes::api::negotiate::{ResourceRequest, shown, table, with_type};
use crate::kubernetes::api::state::{ApiResult, ApiServer, ObjectForm, ObjectWatch, api_path};
use crate::kubernetes::store::{ChangeKind, ObjectChange, StoredObject};

impl ObjectWatch {
    /// Returns the line of a change; an object that left the selector keeps its value, with the
    /// revision at which it left.
    fn change_line(&self, change: &ObjectChange, kind: &str) -> Bytes {
        let left = kind == "DELETED" && change.kind != ChangeKind::Deleted;
        let previous = change.previous.as_ref().filter(|_| left);
        let last = previous.map(|previous| previous.at_revision(change.revision()));
        self.line(kind, last.as_ref().unwrap_or(&change.object))
    }

    fn line(&self, kind: &str, object: &Arc<StoredObject>) -> Bytes {
        match self.form {
            ObjectForm::Whole | ObjectForm::Table => {
                event_line(kind, &shown(&self.resource, object))
            }
            ObjectForm::Metadata => {
                event_line(kind, table::metadata_of(&object.value).to_string().as_bytes())
            }
        }
    }

    /// Returns a bookmark in this watch's form.
    fn bookmark_line(&self, revision: u64, ends_initial: bool) -> Bytes {
        let mut object = json!({
            "kind": self.resource.kind, "apiVersion": self.resource.api_version(),
            "metadata": {"resourceVersion": revision.to_string(), "creationTimestamp": Value::Null},
        });
        if ends_initial {
            object["metadata"]["annotations"] = json!({"k8s.io/initial-events-end": "true"});
        }
        if self.form == ObjectForm::Metadata {
            object = table::metadata_of(&object);
        }
        event_line("BOOKMARK", object.to_string().as_bytes())
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
        let seconds = call.query.number("timeoutSeconds");
        let ends = seconds
            .and_then(|seconds| i64::try_from(seconds).ok())
            .and_then(|seconds| now.checked_add(SignedDuration::from_secs(seconds)).ok());
        let interval = self.options.delays.bookmark;
        let bookmarks = call.query.flag("allowWatchBookmarks");
        let mut watch = ObjectWatch {
            resource: Arc::clone(&target.resource),
            namespace: target.namespace.clone(),
            selector,
            form: call.form(),
            sender,
            ends,
            // A watch that ends soon has its last bookmark at once.
            bookmark: bookmarks.then(|| next_bookmark(interval, ends, now).unwrap_or(now)),
            held: None,
        };
        let asked = match call.query.get("resourceVersion") {
            "" | "0" => None,
            text => text.parse::<u64>().ok(),
        };
        let initial = call.query.get("sendInitialEvents");
        let lists = if initial.is_empty() { asked.is_none() } else { initial == "true" };
        let goes_on = if lists {
            self.send_everything(&mut watch, initial == "true" && bookmarks);
            true
        } else {
            self.send_since(&mut watch, asked.unwrap_or(self.store.revision()))
        };
        if goes_on {
            self.watches.entry(target.resource.table.clone()).or_default().push(watch);
        }
        Ok(with_type(StatusCode::OK, "application/json", Body::Stream(receiver.boxed())))
    }

    fn send_everything(&self, watch: &mut ObjectWatch, marked: bool) {
        let table = watch.resource.table.clone();
        let namespace = watch.namespace.clone();
        for (_, object) in self.store.list(&table, namespace.as_deref()) {
            if watch.selector.fits(&object.value) {
                let line = watch.line("ADDED", object);
                watch.send(line, None);
            }
        }
        if marked {
            let end = watch.bookmark_line(self.store.revision(), true);
            watch.send(end, None);
        }
    }

    /// Sends the changes since a revision; returns false after sending an error if the history does not reach back.
    fn send_since(&self, watch: &mut ObjectWatch, revision: u64) -> bool {
        let table = watch.resource.table.clone();
        let Some(changes) = self.store.changes_since(&table, revision) else {
            let error = too_old(revision, self.store.revision()).object();
            watch.send(event_line("ERROR", error.to_string().as_bytes()), None);
            return false;
        };
        for change in changes {
            if let Some(kind) = watch.sees(change) {
                let line = watch.change_line(change, kind);
                watch.send(line, None);
            }
        }
        true
    }

    /// Sends a change to every matching watch. The line is serialized once for all watches of one form.
    pub(crate) fn publish(&mut self, table: &str, change: &ObjectChange, now: Timestamp) {
        let Some(watches) = self.watches.get_mut(table) else { return };
        let mut whole: BTreeMap<(String, &str), Bytes> = BTreeMap::new();
        for watch in watches.iter_mut() {
            let Some(kind) = watch.sees(change) else { continue };
            let resource = &watch.resource;
            let path =
                format!("/{}/{}", api_path(&resource.group, &resource.version), resource.plural);
            let service = ServiceName::Kubernetes;
            let call = MatchedCall { service, method: "WATCH", path: &path, writes: false };
            let fault = self.faults.next_of(call, now, is_about_events);
            let line = if watch.form == ObjectForm::Whole {
                let form = (resource.api_version(), kind);
                let line = whole.entry(form).or_insert_with(|| watch.change_line(change, kind));
                line.clone()
            } else {
                watch.change_line(change, kind)
            };
            watch.send(line, fault.as_ref());
        }
        watches.retain(|watch| !watch.sender.is_closed());
    }

    /// Sends the bookmarks that are due, and ends watches that timed out.
    pub(crate) fn settle_watches(&mut self, now: Timestamp) {
        let revision = self.store.revision();
        let interval = self.options.delays.bookmark;
        for watches in self.watches.values_mut() {
            for watch in
                watches.iter_mut().filter(|watch| watch.bookmark.is_some_and(|due| due <= now))
            {
                watch.bookmark = next_bookmark(interval, watch.ends, now);
                let line = watch.bookmark_line(revision, false);
                watch.send(line, None);
            }
            watches.retain(|watch| {
                !watch.sender.is_closed() && watch.ends.is_none_or(|ends| ends > now)
            });
        }
    }

    pub(crate) fn next_watch_change(&self) -> Option<Timestamp> {
        self.watches
            .values()
            .flatten()
            .flat_map(|watch| [watch.ends, watch.bookmark])
            .flatten()
            .min()
    }
}

/// Returns the time of the next bookmark. The last one comes shortly before the end, so that a client can resume.
fn next_bookmark(interval: Duration, ends: Option<Timestamp>, now: Timestamp) -> Option<Timestamp> {
    let next = now.checked_add(interval).unwrap_or(Timestamp::MAX);
    let last = ends.and_then(|ends| ends.checked_sub(SignedDuration::from_secs(2)).ok());
    match last {
        Some(last) if last <= now => None,
        Some(last) => Some(next.min(last)),
        None => Some(next),
    }
}

pub(crate) fn is_about_events(fault: &Fault) -> bool {
    matches!(fault, Fault::DropWatch | Fault::DuplicateEvent | Fault::ReorderEvent)
}
