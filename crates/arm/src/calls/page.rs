//! Lists that come in pages.

use serde::Deserialize;
use serde::de::DeserializeOwned;

use crate::client::Client;
use crate::error::{Error, ErrorKind, Fate};
use crate::raw::Raw;
use crate::request::Call;

/// No list of ours has more pages: 100 of the activity log are 20,000 events.
const MAX_PAGES: usize = 100;

#[derive(Deserialize)]
#[serde(bound = "T: DeserializeOwned")]
struct Page<T> {
    #[serde(default, deserialize_with = "super::lenient::or_default")]
    value: Vec<Raw<T>>,
    #[serde(default, rename = "nextLink")]
    next_link: Option<String>,
}

impl Client {
    /// All pages of a list, within the terms of one call.
    pub(crate) async fn list<T: DeserializeOwned>(&self, call: Call) -> Result<Vec<Raw<T>>, Error> {
        let deadline = self.deadline();
        let path = call.path().to_owned();
        let mut items = Vec::new();
        let mut call = call;
        for _ in 0..MAX_PAGES {
            let answer = self.send_by(&call, deadline).await?;
            let page: Page<T> = answer.parse(&path)?;
            items.extend(page.value);
            let Some(link) = page.next_link.filter(|link| !link.is_empty()) else {
                return Ok(items);
            };
            let target = self.shared.cloud.own_link(&link).map_err(|foreign| {
                listing(&path, &answer.correlation_id, ErrorKind::ForeignLink(foreign.0))
            })?;
            if target == call.target {
                break;
            }
            call = Call::follow(target);
        }
        let what = format!("has more than {MAX_PAGES} pages, or goes in a circle");
        Err(listing(&path, "", ErrorKind::Malformed(what)))
    }
}

fn listing(path: &str, correlation_id: &str, kind: ErrorKind) -> Error {
    Error {
        kind,
        method: http::Method::GET,
        path: path.to_owned(),
        correlation_id: correlation_id.to_owned(),
        attempts: 1,
        fate: Fate::NotDone,
    }
}
