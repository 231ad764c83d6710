//! Server-sent events: a short message for each change. The page then reads what changed.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use futures::stream;
use http::header::{CONTENT_TYPE, HeaderMap, HeaderValue};
use http::{Response, StatusCode};
use http_body::Frame;
use http_body_util::{BodyExt as _, StreamBody};
use tokio::sync::{OwnedSemaphorePermit, watch};
use tokio::time::Instant;

use super::live::{Live, MAX_STREAMS, Published};
use super::response::{Body, TEXT, text};

pub(super) const TYPE: &str = "text/event-stream";

/// Schema of the data of an event.
const SCHEMA: &str = "mooring.page.event/v1";

/// At most two events per second.
const PAUSE: Duration = Duration::from_millis(500);
/// Keeps proxies from closing a quiet stream.
const COMMENT: Duration = Duration::from_secs(15);

pub(super) fn open(live: &Live, headers: &HeaderMap) -> Response<Body> {
    let Some((place, latest)) = live.open_stream() else {
        let why = format!("{MAX_STREAMS} streams are open; poll every 10 s\n");
        return text(StatusCode::SERVICE_UNAVAILABLE, TEXT, why);
    };
    let last = headers.get("last-event-id").and_then(|id| id.to_str().ok());
    // Without an id everything is new.
    let seen = last.and_then(|id| id.trim().parse().ok()).unwrap_or_default();
    let sender = Sender { _place: place, latest, seen, next_at: None };
    let frames = stream::unfold(sender, |mut sender| async move {
        let text = sender.next().await?;
        Some((Ok(Frame::data(Bytes::from(text))), sender))
    });
    let mut response = Response::new(StreamBody::new(frames).boxed_unsync());
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(TYPE));
    response
}

struct Sender {
    /// Released when the stream ends.
    _place: OwnedSemaphorePermit,
    latest: watch::Receiver<Option<Arc<Published>>>,
    /// Revision that the client has.
    seen: u64,
    /// None before the first message.
    next_at: Option<Instant>,
}

impl Sender {
    /// Returns the next event, or a comment if nothing changes for a while.
    async fn next(&mut self) -> Option<String> {
        let Some(next_at) = self.next_at else {
            // Opens the stream at once.
            self.next_at = Some(Instant::now());
            return Some(": mooring\n\n".to_owned());
        };
        tokio::time::sleep_until(next_at).await;
        let quiet = Instant::now() + COMMENT;
        loop {
            let event =
                self.latest.borrow_and_update().as_ref().and_then(|one| event(one, self.seen));
            if let Some((revision, text)) = event {
                (self.seen, self.next_at) = (revision, Some(Instant::now() + PAUSE));
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
