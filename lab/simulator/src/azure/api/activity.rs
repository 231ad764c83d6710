//! The activity log: writes to Azure, visible some minutes later.

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde_json::{Value, json};

use crate::azure::api::request::{ArmCall, ArmError, ArmResult, Reply};
use crate::azure::state::{ActivityEntry, AzureState, stamp};

const PAGE: usize = 200;
impl AzureState {
    pub(crate) fn activity_log(&self, call: &ArmCall) -> ArmResult {
        let filter = Filter::parse(call.query.get("$filter").map_or("", String::as_str))?;
        let subscription = call.name(1);
        // The newest come first, as in Azure; a page continues after the last entry of the previous one.
        let before = match call.query.get("$skiptoken") {
            None => u64::MAX,
            Some(token) => token
                .parse()
                .map_err(|_| ArmError::new(400, "BadRequest", "The skip token is invalid."))?,
        };
        let mut found = self.activity.entries.iter().rev().filter(|(number, entry)| {
            *number < before && entry.visible <= call.now && filter.fits(entry)
        });
        let page: Vec<&(u64, ActivityEntry)> = found.by_ref().take(PAGE).collect();
        let mut body = json!({
            "value": page.iter().map(|(number, entry)| self.shown(subscription, *number, entry)).collect::<Vec<_>>()
        });
        if let (Some((last, _)), Some(_)) = (page.last(), found.next()) {
            body["nextLink"] = json!(format!(
                "{}/subscriptions/{subscription}/providers/microsoft.insights/eventtypes/management/values?{}&$skiptoken={last}",
                call.base,
                call.query_without_skip_token()
            ));
        }
        Ok(Reply::ok(body))
    }

    fn shown(&self, subscription: &str, number: u64, entry: &ActivityEntry) -> Value {
        let both = |value: &str| json!({"value": value, "localizedValue": value});
        let started = entry.status == "Started";
        let kind = entry.action.rsplit_once('/').map_or("", |(kind, _)| kind);
        let provider = kind.split('/').next().unwrap_or_default();
        let group = group_of(&entry.resource);
        let mut properties = BTreeMap::from([
            ("eventCategory", "Administrative".to_owned()),
            ("entity", entry.resource.clone()),
            ("message", entry.action.clone()),
            ("hierarchy", format!("{}/{subscription}", self.options.tenant)),
        ]);
        if let Some(error) = &entry.error {
            properties.insert("statusCode", "Conflict".to_owned());
            properties.insert("statusMessage", error.to_string());
        }
        let data_id = format!(
            "{number:08x}-0000-4000-8000-{:012x}",
            entry.time.as_millisecond() & 0xffff_ffff_ffff
        );
        json!({
            "authorization": {"action": entry.action, "scope": entry.resource},
            "caller": entry.caller,
            "channels": "Operation",
            "correlationId": entry.correlation,
            "description": "",
            "eventDataId": data_id,
            "eventName": if started {
                json!({"value": "BeginRequest", "localizedValue": "Begin request"})
            } else {
                json!({"value": "EndRequest", "localizedValue": "End request"})
            },
            "category": both("Administrative"),
            "eventTimestamp": stamp(entry.time),
            "id": format!("{}/events/{data_id}/ticks/{}", entry.resource, entry.time.as_microsecond() * 10),
            "level": if entry.status == "Failed" { "Error" } else { "Informational" },
            "operationId": entry.operation,
            "operationName": both(&entry.action),
            "resourceGroupName": group,
            "resourceProviderName": both(provider),
            "resourceType": both(kind),
            "resourceId": entry.resource,
            "status": both(&entry.status),
            "subStatus": if entry.status == "Failed" {
                json!({"value": "Conflict", "localizedValue": "Conflict (HTTP Status Code: 409)"})
            } else {
                both("")
            },
            "submissionTimestamp": stamp(entry.visible),
            "subscriptionId": subscription,
            "tenantId": self.options.tenant,
            "properties": properties,
        })
    }
}

fn group_of(resource: &str) -> &str {
    let mut parts = resource.split('/');
    parts.find(|part| part.eq_ignore_ascii_case("resourceGroups"));
    parts.next().unwrap_or_default()
}

/// The forms of `$filter` that the service allows: a time range with at most one further condition.
#[derive(Debug, Default)]
struct Filter {
    from: Option<Timestamp>,
    to: Option<Timestamp>,
    wanted: Option<(String, String)>,
}

impl Filter {
    fn parse(text: &str) -> Result<Self, ArmError> {
        let bad =
            |why: &str| ArmError::new(400, "BadRequest", format!("The filter is invalid: {why}"));
        if text.trim().is_empty() {
            return Err(bad("a start of eventTimestamp is required."));
        }
        let mut filter = Self::default();
        let words: Vec<&str> = text.split_whitespace().collect();
        for clause in words.split(|word| word.eq_ignore_ascii_case("and")) {
            let clause = clause.join(" ");
            let words: Vec<&str> = clause.splitn(3, char::is_whitespace).collect();
            let [name, operator, value] = words[..] else {
                return Err(bad(&format!("'{clause}' is not understood.")));
            };
            let value = value.trim().trim_matches('\'');
            let time = || time_of(value).ok_or_else(|| bad(&format!("'{value}' is no time.")));
            match (name.to_lowercase().as_str(), operator.to_lowercase().as_str()) {
                ("eventtimestamp", "ge" | "gt") => filter.from = Some(time()?),
                ("eventtimestamp", "le" | "lt") => filter.to = Some(time()?),
                (
                    name @ ("resourcegroupname" | "resourceuri" | "correlationid"
                    | "resourceprovider"),
                    "eq",
                ) => {
                    if let Some((first, _)) = &filter.wanted {
                        return Err(bad(&format!("'{name}' cannot be combined with '{first}'.")));
                    }
                    filter.wanted = Some((name.to_owned(), value.to_owned()));
                }
                // `az` always names both channels.
                ("eventchannels", "eq") => {}
                _ => return Err(bad(&format!("'{clause}' is not supported."))),
            }
        }
        if filter.from.is_none() {
            return Err(bad("a start of eventTimestamp is required."));
        }
        Ok(filter)
    }

    fn fits(&self, entry: &ActivityEntry) -> bool {
        self.from.is_none_or(|from| entry.time >= from)
            && self.to.is_none_or(|to| entry.time <= to)
            && self.wanted.as_ref().is_none_or(|(name, value)| {
                let actual = match name.as_str() {
                    "resourcegroupname" => group_of(&entry.resource),
                    "resourceuri" => &entry.resource,
                    "correlationid" => &entry.correlation,
                    _ => entry.action.split('/').next().unwrap_or_default(),
                };
                actual.eq_ignore_ascii_case(value)
            })
    }
}

/// Reads a time with a zone, or without one as UTC, as `az` writes it.
fn time_of(text: &str) -> Option<Timestamp> {
    let local =
        || text.parse::<jiff::civil::DateTime>().ok()?.to_zoned(jiff::tz::TimeZone::UTC).ok();
    text.parse().ok().or_else(|| local().map(|time| time.timestamp()))
}
