//! Parses the report of a node's bootstrap.

use jiff::tz::Offset;
use jiff::{SignedDuration, Timestamp};
use mooring_contract::CseStatus;
use mooring_contract::cse_status::Timings;
use mooring_diagnosis::decode;
use serde_json::{Map, Value};

use super::RawSpan;
use super::timestamp::{self, Stamp};
use crate::timeline::{SpanKind, SpanSource};

/// A report without its boot times.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct ReportFacts {
    pub(crate) status: CseStatus,
    pub(crate) began: Option<Stamp>,
    pub(crate) seconds: Option<i64>,
}

/// Parses a report, or a text that contains one: the extension's message, a report whose head was cut off.
pub(crate) fn read(bytes: &[u8]) -> Result<ReportFacts, String> {
    let status = match CseStatus::read(bytes) {
        Ok(status) if status != CseStatus::default() => status,
        other => inside(bytes).ok_or_else(|| match other {
            Ok(_) => "it holds no report".to_owned(),
            Err(error) => format!("not a report: {error}"),
        })?,
    };
    let timings = &status.timings;
    let began = timings.cse_start_time.as_deref().or_else(|| datapoint(timings, "CSEStartTime"));
    let began = began.and_then(timestamp::read);
    let seconds = timings.exec_duration.as_deref().and_then(|text| text.trim().parse().ok());
    let seconds = seconds.filter(|seconds| (0..=86_400).contains(seconds));
    Ok(ReportFacts { status, began, seconds })
}

/// Returns the time at which the bootstrap of a report ended: that of its start, and its duration.
pub fn ended_at(report: &str) -> Option<Timestamp> {
    let ReportFacts { began, seconds, .. } = read(report.as_bytes()).ok()?;
    began?.at(Offset::UTC)?.checked_add(SignedDuration::from_secs(seconds?)).ok()
}

/// Finds a report within another text: the code as in a diagnosis, times by their names.
fn inside(bytes: &[u8]) -> Option<CseStatus> {
    let found = decode(bytes).into_iter().find_map(|decoded| {
        let mut status = decoded.status.unwrap_or_default();
        if let (true, Some(code)) = (status.exit_code.is_empty(), decoded.code) {
            status.exit_code = code.to_string();
        }
        (status != CseStatus::default()).then_some(status)
    })?;
    let text = String::from_utf8_lossy(bytes).replace("\\\"", "\"");
    let times = TIMES.iter().filter_map(|name| Some((*name, quoted(&text, name)?)));
    let mut object: Map<String, Value> =
        times.map(|(name, value)| (name.to_owned(), Value::from(value))).collect();
    object.insert("BootDatapoints".to_owned(), object.clone().into());
    let timings = CseStatus::read(Value::from(object).to_string().as_bytes()).ok()?.timings;
    Some(CseStatus { timings, ..found })
}

const TIMES: [&str; 9] = [
    "ExecDuration",
    "KernelStartTime",
    "CloudInitLocalStartTime",
    "CloudInitStartTime",
    "CloudFinalStartTime",
    "NetworkdStartTime",
    "CSEStartTime",
    "GuestAgentStartTime",
    "KubeletStartTime",
];

/// Returns the quoted text after `"name":`.
fn quoted<'a>(text: &'a str, name: &str) -> Option<&'a str> {
    let behind = text.split_once(&format!("\"{name}\""))?.1.trim_start().strip_prefix(':')?;
    let (value, _) = behind.trim_start().strip_prefix('"')?.split_once('"')?;
    (value.len() <= 64).then_some(value)
}

fn datapoint<'a>(timings: &'a Timings, name: &str) -> Option<&'a str> {
    timings.boot_datapoints.get(name).map(String::as_str)
}

/// Instants of the boot from the report, and with milliseconds from the scripts' last event.
pub(crate) fn boot(timings: Option<&Timings>, summary: &Map<String, Value>) -> Vec<RawSpan> {
    const INSTANTS: [(&str, &str); 8] = [
        ("KernelStartTime", "kernel"),
        ("CloudInitLocalStartTime", "cloud-init local"),
        ("NetworkdStartTime", "networkd"),
        ("CloudInitStartTime", "cloud-init"),
        ("CloudFinalStartTime", "cloud-init final"),
        ("GuestAgentStartTime", "guest agent"),
        ("KubeletStartTime", "kubelet started"),
        ("KubeletReadyTime", "kubelet ready"),
    ];
    let instant = |(member, name): (&str, &str)| {
        let precise = summary.get(member).and_then(Value::as_str).and_then(timestamp::read);
        // `date -d ""` is today's midnight: the scripts had no value.
        let precise =
            precise.filter(|stamp| !is_midnight(*stamp)).map(|at| (at, SpanSource::Event));
        let plain = || {
            let timings = timings?;
            let text = match member {
                "KernelStartTime" => timings.kernel_start_time.as_deref(),
                "CloudInitLocalStartTime" => timings.cloud_init_local_start_time.as_deref(),
                "NetworkdStartTime" => timings.networkd_start_time.as_deref(),
                "CloudInitStartTime" => timings.cloud_init_start_time.as_deref(),
                "CloudFinalStartTime" => timings.cloud_final_start_time.as_deref(),
                "GuestAgentStartTime" => timings.guest_agent_start_time.as_deref(),
                _ => None,
            };
            let text = text.filter(|text| !text.is_empty()).or_else(|| datapoint(timings, member));
            text.and_then(timestamp::read).map(|at| (at, SpanSource::Report))
        };
        let (at, source) = precise.or_else(plain)?;
        Some(RawSpan { end: Some(at), ..RawSpan::new(name, SpanKind::Boot, at, source) })
    };
    INSTANTS.into_iter().filter_map(instant).collect()
}

fn is_midnight(stamp: Stamp) -> bool {
    match stamp {
        Stamp::Local(local) => local.time() == jiff::civil::Time::midnight(),
        Stamp::At(at) => at.as_nanosecond() % 86_400_000_000_000 == 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn truncated_report_keeps_its_times() {
        let facts = read(br#"ror: x\n+ exit 50", "Error": "", "ExecDuration": "50", "CSEStartTime": "Tue May 23 08:35:29 UTC 2023" }"#);
        let facts = facts.unwrap();
        assert_eq!(facts.status.exit_code, "50");
        assert_eq!(facts.seconds, Some(50));
        assert!(facts.began.is_some());
    }

    #[test]
    fn complete_report_is_read_as_it_is() {
        let report = br#"{"ExitCode":"0","BootDatapoints":{"KubeletReadyTime":"n/a","CSEStartTime":"Tue May 23 08:35:29 UTC 2023"}}"#;
        let facts = read(report).unwrap();
        assert_eq!(facts.status, CseStatus::read(report).unwrap());
        assert_eq!(facts.began, timestamp::read("2023-05-23T08:35:29Z"));
    }

    #[test]
    fn boot_times_are_read_from_members_or_datapoints() {
        let at = |minute: usize| format!("Tue 2023-05-23 08:{minute:02}:00 UTC");
        let members = [
            "KernelStartTime",
            "CloudInitLocalStartTime",
            "NetworkdStartTime",
            "CloudInitStartTime",
            "CloudFinalStartTime",
            "GuestAgentStartTime",
        ];
        let minutes = |of_member: &dyn Fn(usize) -> String| -> Vec<Stamp> {
            let datapoint =
                |(number, name): (usize, &&str)| ((*name).to_owned(), at(number + 30).into());
            let member =
                |(number, name): (usize, &&str)| ((*name).to_owned(), of_member(number).into());
            let datapoints: Map<String, Value> =
                members.iter().enumerate().map(datapoint).collect();
            let mut report: Map<String, Value> = members.iter().enumerate().map(member).collect();
            report.insert("BootDatapoints".to_owned(), datapoints.into());
            let status = CseStatus::read(Value::from(report).to_string().as_bytes()).unwrap();
            boot(Some(&status.timings), &Map::new()).into_iter().map(|one| one.start).collect()
        };
        let expected = |first: usize| -> Vec<Stamp> {
            (first..first + 6).filter_map(|minute| timestamp::read(&at(minute))).collect()
        };
        assert_eq!(minutes(&at), expected(0));
        assert_eq!(minutes(&|_| String::new()), expected(30), "empty members");
    }

    #[test]
    fn midnight_is_an_unknown_time() {
        let summary = serde_json::from_str(
            r#"{"KernelStartTime":"2026-11-15 00:00:00.000","NetworkdStartTime":"2026-11-15T00:00:00Z","GuestAgentStartTime":"2026-11-15T02:00:47Z","KubeletStartTime":"2026-11-15 02:00:47.250"}"#,
        );
        let spans = boot(None, &summary.unwrap());
        assert_eq!(
            spans.iter().map(|one| one.name.as_str()).collect::<Vec<_>>(),
            ["guest agent", "kubelet started"]
        );
    }

    #[test]
    fn text_without_a_report_is_rejected() {
        assert_eq!(read(b"{}").unwrap_err(), "it holds no report");
        assert!(read(b"hello").unwrap_err().starts_with("not a report: "));
    }
}
