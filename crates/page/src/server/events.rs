//! Server-sent events: a short message for each change. The page then reads what changed.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use bytes::Bytes;
use futures::stream;
use http::header::{CONTENT_TYPE, HeaderMap, HeaderValue};
use http::{Response, StatusCode};
use http_body::Frame;
use http_body_util::{BodyExt as _, StreamBody};
use tokio::sync::watch;
use tokio::time::Instant;

use super::live::{Live, Published};
use super::response::{Body, TEXT, text};

/// Streams of one server. Further pages poll.
pub const MAX_STREAMS: usize = 16;

pub(super) const TYPE: &str = "text/event-stream";

/// Schema of the data of an event.
const SCHEMA: &str = "mooring.page.event/v1";

/// At most two events per second.
const PAUSE: Duration = Duration::from_millis(500);
/// Keeps proxies from closing a quiet stream.
const COMMENT: Duration = Duration::from_secs(15);

#[derive(Clone, Default)]
pub(crate) struct Streams(Arc<AtomicUsize>);

/// A slot of a stream, released when the stream ends.
struct Slot {
    open: Arc<AtomicUsize>,
    live: Arc<Live>,
}

impl Drop for Slot {
    fn drop(&mut self) {
        self.open.fetch_sub(1, Ordering::Relaxed);
        self.live.remove_stream();
    }
}

impl Streams {
    pub(super) fn open(&self, live: &Arc<Live>, headers: &HeaderMap) -> Response<Body> {
        let is_free = |open: usize| (open < MAX_STREAMS).then_some(open + 1);
        if self.0.fetch_update(Ordering::Relaxed, Ordering::Relaxed, is_free).is_err() {
            let why = format!("{MAX_STREAMS} streams are open; poll every 10 s\n");
            return text(StatusCode::SERVICE_UNAVAILABLE, TEXT, why);
        }
        live.add_stream();
        let slot = Slot { open: Arc::clone(&self.0), live: Arc::clone(live) };
        let last = headers.get("last-event-id").and_then(|id| id.to_str().ok());
        // Without an id everything is new.
        let seen = last.and_then(|id| id.trim().parse().ok()).unwrap_or_default();
        let state = Sender { _slot: slot, latest: live.subscribe(), seen, sent: None };
        let frames = stream::unfold(state, |mut sender| async move {
            let text = sender.next().await?;
            Some((Ok(Frame::data(Bytes::from(text))), sender))
        });
        let mut response = Response::new(StreamBody::new(frames).boxed_unsync());
        response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(TYPE));
        response
    }
}

struct Sender {
    _slot: Slot,
    latest: watch::Receiver<Option<Arc<Published>>>,
    /// Revision that the client has.
    seen: u64,
    sent: Option<Instant>,
}

impl Sender {
    /// Returns the next event, or a comment if nothing changes for a while.
    async fn next(&mut self) -> Option<String> {
        if let Some(sent) = self.sent {
            tokio::time::sleep_until(sent + PAUSE).await;
        } else {
            // Opens the stream at once.
            self.sent = Some(Instant::now().checked_sub(PAUSE).unwrap_or_else(Instant::now));
            return Some(": mooring\n\n".to_owned());
        }
        let quiet = Instant::now() + COMMENT;
        loop {
            let event =
                self.latest.borrow_and_update().as_ref().and_then(|one| event(one, self.seen));
            if let Some((revision, text)) = event {
                (self.seen, self.sent) = (revision, Some(Instant::now()));
                return Some(text);
            }
            match tokio::time::timeout_at(quiet, self.latest.changed()).await {
                Ok(Ok(())) => {}
                Ok(Err(_)) => return None,
                Err(_) => return Some(": \n\n".to_owned()),
            }
        }
    }
}

fn event(published: &Published, seen: u64) -> Option<(u64, String)> {
    let changed = published.changed_since(seen);
    let first = changed.first()?;
    let revision = published.revision;
    let data = serde_json::json!({"schema": SCHEMA, "revision": revision, "changed": changed});
    Some((revision, format!("event: {first}\nid: {revision}\ndata: {data}\n\n")))
}
