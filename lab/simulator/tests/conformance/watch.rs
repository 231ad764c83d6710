//! An open watch, event by event.

use futures::{AsyncBufReadExt as _, StreamExt as _};
use kube::Client;
use serde_json::Value;

use crate::answer::text;
use crate::cluster::REQUEST_TIMEOUT;

pub(crate) struct Watch {
    lines: std::pin::Pin<Box<dyn futures::Stream<Item = std::io::Result<String>> + Send>>,
}

impl Watch {
    pub(crate) async fn open(client: &Client, path: &str, accept: &str) -> Self {
        let request = http::Request::get(path).header(http::header::ACCEPT, accept);
        let request = request.body(Vec::new()).unwrap();
        let opened = tokio::time::timeout(REQUEST_TIMEOUT, client.request_stream(request));
        let body = opened.await.expect("a watch opens in time").unwrap();
        Self { lines: Box::pin(body.lines()) }
    }

    /// Returns the next event; none after the end of the watch.
    pub(crate) async fn next(&mut self) -> Option<Value> {
        let line = tokio::time::timeout(REQUEST_TIMEOUT, self.lines.next());
        let line = line.await.expect("an event, or the end, comes in time")?;
        Some(serde_json::from_str(&line.unwrap()).unwrap())
    }

    /// Returns the object of the next event, which must be of this type.
    #[track_caller]
    pub(crate) fn expect(&mut self, kind: &'static str) -> impl Future<Output = Value> {
        let caller = std::panic::Location::caller();
        async move {
            let event = self.next().await.unwrap_or_else(|| panic!("{caller}: the watch ended"));
            assert!(event["type"] == kind, "{caller}: expected {kind}: {event}");
            event["object"].clone()
        }
    }

    pub(crate) async fn event(&mut self) -> (String, String) {
        let event = self.next().await.expect("an event");
        (text(&event, "/type").to_owned(), text(&event, "/object/metadata/name").to_owned())
    }
}
