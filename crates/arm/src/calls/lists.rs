//! Lists: pages, Resource Graph and the activity log.

use http::Method;
use jiff::Timestamp;
use jiff::tz::TimeZone;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer};
use serde_json::{Value, json};

use crate::client::Client;
use crate::error::{Error, ErrorKind};
use crate::path::resource_id::ResourceId;
use crate::request::Call;
use crate::request_class::Class;

/// Maximum number of pages: 100 of the activity log are 20,000 events.
const MAX_PAGES: usize = 100;

#[derive(Deserialize)]
#[serde(bound = "T: DeserializeOwned")]
struct Page<T> {
    #[serde(default, deserialize_with = "or_default")]
    value: Vec<T>,
    #[serde(default, rename = "nextLink")]
    next_link: Option<String>,
}

impl Client {
    /// Returns all pages of a list, within the deadline of one call.
    pub(crate) async fn list<T: DeserializeOwned>(&self, call: Call) -> Result<Vec<T>, Error> {
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

const PATH: &str = "/providers/Microsoft.ResourceGraph/resources";
/// Maximum page size of the service.
const MAX_ROWS: u32 = 1000;

#[derive(Deserialize)]
#[serde(bound = "T: DeserializeOwned")]
struct Rows<T> {
    #[serde(default, deserialize_with = "or_default")]
    data: Vec<T>,
    #[serde(default, rename = "$skipToken")]
    skip_token: Option<String>,
}

impl Client {
    /// Returns all rows of a query, which should include `id`: the service pages only ordered results.
    pub async fn graph<T: DeserializeOwned>(
        &self,
        subscriptions: &[&str],
        query: &str,
    ) -> Result<Vec<T>, Error> {
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

/// Filter of events. The service accepts a time range and at most one more condition.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ActivityQuery {
    from: Timestamp,
    to: Timestamp,
    condition: String,
}

impl ActivityQuery {
    pub fn of_group(resource_group: &str, from: Timestamp, to: Timestamp) -> Self {
        let condition = format!(" and resourceGroupName eq '{}'", quoted(resource_group));
        Self { from, to, condition }
    }

    /// Returns `eventTimestamp ge '…' and eventTimestamp le '…' and …`, in whole seconds of UTC.
    pub(crate) fn filter(&self) -> String {
        let text = |time: Timestamp| {
            time.to_zoned(TimeZone::UTC).strftime("%Y-%m-%dT%H:%M:%SZ").to_string()
        };
        let (from, to) = (text(self.from), text(self.to));
        format!("eventTimestamp ge '{from}' and eventTimestamp le '{to}'{}", self.condition)
    }
}

/// Doubles quotes, as `OData` strings require.
fn quoted(text: &str) -> String {
    text.replace('\'', "''")
}

impl Client {
    /// Returns all pages of the activity log, newest first.
    pub async fn activity_log(
        &self,
        subscription: &str,
        query: &ActivityQuery,
    ) -> Result<Vec<Value>, Error> {
        // Parsed as an ID, so that the name cannot add segments to the path.
        let scope = ResourceId::parse(&format!("/subscriptions/{subscription}"))?;
        let path = format!("{scope}/providers/Microsoft.Insights/eventtypes/management/values");
        let call = Call::get(&path, self.versions.activity_log)?.query("$filter", &query.filter());
        self.list(call).await
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn filter_has_the_format_of_the_service() {
        let time = |text: &str| text.parse::<Timestamp>().unwrap();
        let (from, to) = (time("2026-05-26T14:40:00.9Z"), time("2026-05-26T20:40:00Z"));
        assert_eq!(
            ActivityQuery::of_group("MC_it's", from, to).filter(),
            "eventTimestamp ge '2026-05-26T14:40:00Z' and eventTimestamp le '2026-05-26T20:40:00Z' and resourceGroupName eq 'MC_it''s'"
        );
        let call = Call::get("/x", "v").unwrap().query("$filter", "a ge '1' and b");
        assert_eq!(call.target.as_str(), "/x?api-version=v&$filter=a%20ge%20%271%27%20and%20b");
    }
}
