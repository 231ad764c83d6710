//! The activity log, which has an ingestion delay of minutes.

use jiff::Timestamp;
use jiff::tz::TimeZone;

use crate::client::Client;
use crate::error::Error;
use crate::path::resource_id::ResourceId;
use crate::raw::{Raw, RawObject};
use crate::request::Call;

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
    ) -> Result<Vec<Raw<RawObject>>, Error> {
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
