//! Lists: their pages, and `null` in place of a list.

use http::Method;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer};

use crate::client::Client;
use crate::error::{Error, ErrorKind};
use crate::raw::Raw;
use crate::request::Call;

/// Maximum number of pages: 100 of the activity log are 20,000 events.
const MAX_PAGES: usize = 100;

#[derive(Deserialize)]
#[serde(bound = "T: DeserializeOwned")]
struct Page<T> {
    #[serde(default, deserialize_with = "or_default")]
    value: Vec<Raw<T>>,
    #[serde(default, rename = "nextLink")]
    next_link: Option<String>,
}

impl Client {
    /// Returns all pages of a list, within the deadline of one call.
    pub(crate) async fn list<T: DeserializeOwned>(&self, call: Call) -> Result<Vec<Raw<T>>, Error> {
        let deadline = self.deadline();
        let path = call.path().to_owned();
        let mut items = Vec::new();
        let mut call = call;
        for _ in 0..MAX_PAGES {
            let response = self.send_by(&call, deadline).await?;
            let page: Page<T> = response.parse(&path)?;
            items.extend(page.value);
            let Some(link) = page.next_link.filter(|link| !link.is_empty()) else {
                return Ok(items);
            };
            let target = self.shared.cloud.own_link(&link).map_err(|foreign| {
                let error = Error::malformed(Method::GET, &path, &response.correlation_id, "");
                Error { kind: ErrorKind::ForeignLink(foreign.0), ..error }
            })?;
            if target == call.target {
                break;
            }
            call = Call::follow(target);
        }
        let what = format!("more than {MAX_PAGES} pages, or a loop of pages");
        Err(Error::malformed(Method::GET, &path, "", what))
    }
}

/// Reads `null` as an empty list or map, since Azure returns either.
pub(crate) fn or_default<'de, D, T>(deserializer: D) -> Result<T, D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de> + Default,
{
    Ok(Option::deserialize(deserializer)?.unwrap_or_default())
}
