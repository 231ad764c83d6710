//! Resource Graph: queries over many resources, delayed by seconds to minutes.

use http::Method;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::json;

use super::page::or_default;
use crate::client::Client;
use crate::error::Error;
use crate::raw::Raw;
use crate::request::Call;
use crate::request_class::Class;

const PATH: &str = "/providers/Microsoft.ResourceGraph/resources";
/// Maximum page size of the service.
const MAX_ROWS: u32 = 1000;
const MAX_PAGES: usize = 100;

#[derive(Deserialize)]
#[serde(bound = "T: DeserializeOwned")]
struct Rows<T> {
    #[serde(default, deserialize_with = "or_default")]
    data: Vec<Raw<T>>,
    #[serde(default, rename = "$skipToken")]
    skip_token: Option<String>,
}

impl Client {
    /// Returns all rows of a query, which should include `id`: the service pages only ordered results.
    pub async fn graph<T: DeserializeOwned>(
        &self,
        subscriptions: &[&str],
        query: &str,
    ) -> Result<Vec<Raw<T>>, Error> {
        let deadline = self.deadline();
        let mut rows = Vec::new();
        let mut skip_token: Option<String> = None;
        for _ in 0..MAX_PAGES {
            let mut options = json!({"$top": MAX_ROWS, "resultFormat": "objectArray"});
            if let Some(token) = &skip_token {
                options["$skipToken"] = json!(token);
            }
            // A POST that changes nothing.
            let call = Call::new(Method::POST, Class::Read, PATH, self.versions.graph)?.json(
                &json!({"subscriptions": subscriptions, "query": query, "options": options}),
            )?;
            let page: Rows<T> = self.send_by(&call, deadline).await?.parse(PATH)?;
            rows.extend(page.data);
            match page.skip_token.filter(|token| !token.is_empty()) {
                None => return Ok(rows),
                Some(token) => skip_token = Some(token),
            }
        }
        let what = format!("more than {MAX_PAGES} pages");
        Err(Error::malformed(Method::POST, PATH, "", what))
    }
}
