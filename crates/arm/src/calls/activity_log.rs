//! The activity log: what was done to resources, with an ingestion delay of minutes.

use jiff::Timestamp;
use jiff::tz::TimeZone;
use serde::Deserialize;
use serde_json::Value;

use super::lenient::{or_default, time};
use crate::client::Client;
use crate::error::{Error, Refusal};
use crate::raw::Raw;
use crate::request::Call;
use crate::resource_id::ResourceId;

/// Which events. The service accepts a time range with at most one further condition.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ActivityQuery {
    from: Timestamp,
    to: Timestamp,
    condition: String,
    select: Option<String>,
}

impl ActivityQuery {
    /// Events of a resource group.
    #[must_use]
    pub fn of_group(resource_group: &str, from: Timestamp, to: Timestamp) -> Self {
        let condition = format!(" and resourceGroupName eq '{}'", quoted(resource_group));
        Self { from, to, condition, select: None }
    }

    /// Events of one resource.
    #[must_use]
    pub fn of_resource(resource: &ResourceId, from: Timestamp, to: Timestamp) -> Self {
        let condition = format!(" and resourceUri eq '{}'", quoted(resource.as_str()));
        Self { from, to, condition, select: None }
    }

    /// Events that belong to one request.
    #[must_use]
    pub fn of_correlation(correlation_id: &str, from: Timestamp, to: Timestamp) -> Self {
        let condition = format!(" and correlationId eq '{}'", quoted(correlation_id));
        Self { from, to, condition, select: None }
    }

    /// Only these members of each event.
    #[must_use]
    pub fn select(mut self, members: &[&str]) -> Self {
        self.select = Some(members.join(","));
        self
    }

    /// `eventTimestamp ge '…' and eventTimestamp le '…' and …`, in whole seconds of UTC.
    pub(crate) fn filter(&self) -> String {
        let text = |time: Timestamp| {
            time.to_zoned(TimeZone::UTC).strftime("%Y-%m-%dT%H:%M:%SZ").to_string()
        };
        let (from, to) = (text(self.from), text(self.to));
        format!("eventTimestamp ge '{from}' and eventTimestamp le '{to}'{}", self.condition)
    }
}

/// A quote inside of a text of `OData` is written twice.
fn quoted(text: &str) -> String {
    text.replace('\'', "''")
}

/// An event. One write leaves several, which share the correlation id.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct ActivityEvent {
    #[serde(deserialize_with = "time")]
    pub event_timestamp: Option<Timestamp>,
    #[serde(deserialize_with = "time")]
    pub submission_timestamp: Option<Timestamp>,
    pub correlation_id: Option<String>,
    pub operation_id: Option<String>,
    /// `Microsoft.Compute/virtualMachineScaleSets/write`.
    #[serde(deserialize_with = "or_default")]
    pub operation_name: Localized,
    /// `Started`, `Accepted`, `Succeeded`, `Failed`.
    #[serde(deserialize_with = "or_default")]
    pub status: Localized,
    /// The HTTP status in words.
    #[serde(deserialize_with = "or_default")]
    pub sub_status: Localized,
    /// `BeginRequest`, `EndRequest`.
    #[serde(deserialize_with = "or_default")]
    pub event_name: Localized,
    /// What it happened to; not always a whole id.
    pub resource_id: Option<String>,
    pub resource_group_name: Option<String>,
    pub caller: Option<String>,
    /// Further members, by name.
    #[serde(deserialize_with = "or_default")]
    pub properties: serde_json::Map<String, Value>,
}

impl ActivityEvent {
    /// The error in `statusMessage`, which is a JSON text.
    pub fn error(&self) -> Option<Refusal> {
        let refusal = Refusal::of(self.properties.get("statusMessage")?);
        (refusal.code.is_some() || !refusal.message.is_empty()).then_some(refusal)
    }
}

/// A word for programs, beside which Azure puts one for people.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub struct Localized {
    #[serde(deserialize_with = "or_default")]
    pub value: String,
}

impl Client {
    /// Events of the activity log, all pages, newest first as the service gives them.
    pub async fn activity_log(
        &self,
        subscription: &str,
        query: &ActivityQuery,
    ) -> Result<Vec<Raw<ActivityEvent>>, Error> {
        // Checked as an id, so that a name cannot leave its place in the path.
        let scope = ResourceId::parse(&format!("/subscriptions/{subscription}"))?;
        let path = format!("{scope}/providers/Microsoft.Insights/eventtypes/management/values");
        let mut call =
            Call::get(&path, self.versions.activity_log)?.query("$filter", &query.filter());
        if let Some(select) = &query.select {
            call = call.query("$select", select);
        }
        self.list(call).await
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_filter_is_the_one_that_the_service_reads() {
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
