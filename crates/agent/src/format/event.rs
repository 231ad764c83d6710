//! Events for the guest agent, which carries them to Azure.

use std::time::SystemTime;

use mooring_contract::json::{Escape, JsonLayout, Writer};

use super::json::write_member;
use super::time::TimeFormat;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Task {
    Provision,
    ProvisionWait,
    CompareEnvs,
    RegistryLogin,
    CheckHotfix,
    DownloadHotfix,
    Hotfix,
}

impl Task {
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Provision => "Provision",
            Self::ProvisionWait => "ProvisionWait",
            Self::CompareEnvs => "CompareEnvs",
            Self::RegistryLogin => "RegistryLogin",
            Self::CheckHotfix => "CheckHotfix",
            Self::DownloadHotfix => "DownloadHotfix",
            Self::Hotfix => "Hotfix",
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum EventLevel {
    Informational,
    Error,
}

/// Returns an event file's content: one line without a line end, keys in the guest agent's order.
pub(crate) fn event_json(
    task: Task,
    level: EventLevel,
    message: &str,
    (start, end): (SystemTime, SystemTime),
    clock: &TimeFormat,
) -> String {
    let milliseconds = end.duration_since(start).unwrap_or_default().as_millis();
    let (start, end) = (clock.event_stamp(start), clock.event_stamp(end));
    let separator = if message.is_empty() { "" } else { " | " };
    let message =
        format!("{message}{separator}startTime={start} endTime={end} durationMs={milliseconds}");
    let level = match level {
        EventLevel::Informational => "Informational",
        EventLevel::Error => "Error",
    };
    let task = format!("AKS.AKSNodeController.{}", task.as_str());
    let mut event = Writer::new(JsonLayout::Compact, Escape::HtmlReplaced);
    event.open_object();
    for (name, value) in [
        ("Timestamp", start.as_str()),
        ("OperationId", &end),
        ("Version", "1.23"),
        ("TaskName", &task),
        ("EventLevel", level),
        ("Message", &message),
        ("EventPid", "0"),
        ("EventTid", "0"),
    ] {
        write_member(&mut event, name, value);
    }
    event.close_object();
    event.finish()
}
