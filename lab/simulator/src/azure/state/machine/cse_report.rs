//! The report of the bootstrap scripts, and the part of it that the extension's handler keeps.
//!
//! Written from recordings of the scripts and the handler, without the product's own types: a
//! mistake in those must not repeat itself here.

use jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};

/// Bytes that the handler keeps at the end of a stream. A longer report loses its start, and with it the exit code.
pub(super) const KEPT_BYTES: usize = 4096;
/// Bytes at the end of their output that the scripts put into a report, before it is escaped.
const OUTPUT_BYTES: usize = 3000;

/// Directory of events for the guest agent.
const EVENTS: &str = "/var/log/azure/Microsoft.Azure.Extensions.CustomScript/events";

/// Seconds before the scripts at which systemd started its units, in the order of the report.
const BOOT_TIMES: [(&str, i64); 6] = [
    ("KernelStartTime", 30),
    ("CloudInitLocalStartTime", 26),
    ("CloudInitStartTime", 20),
    ("CloudFinalStartTime", 4),
    ("NetworkdStartTime", 22),
    ("GuestAgentStartTime", 5),
];

/// Returns the report as the scripts write it: `ExitCode` first, strings only, one line; with times if its start is known.
pub(super) fn report(
    exit_code: i32,
    output: &str,
    error: &str,
    seconds: u64,
    began: Option<Timestamp>,
) -> String {
    let output = with_times(output, began);
    let mut members = vec![
        ("ExitCode", exit_code.to_string()),
        ("Output", end_of(&output, OUTPUT_BYTES).to_owned()),
        ("Error", error.to_owned()),
        ("ExecDuration", seconds.to_string()),
    ];
    if let Some(began) = began {
        members.extend(BOOT_TIMES.map(|(name, before)| {
            let at = began.saturating_sub(SignedDuration::from_secs(before)).unwrap_or(began);
            (name, at.strftime("%a %F %T UTC").to_string())
        }));
        members.push(("CSEStartTime", began.strftime("%a %b %e %T UTC %Y").to_string()));
    }
    let members: Vec<String> = members
        .into_iter()
        .map(|(name, value)| format!("{}: {}", json!(name), Value::from(value)))
        .collect();
    format!("{{ {} }}\n", members.join(", "))
}

/// Replaces `@19.930` by the time so many seconds after the start; without a start, removes the line.
fn with_times(output: &str, began: Option<Timestamp>) -> String {
    let lines = output.split_inclusive('\n').filter_map(|line| {
        let Some((before, rest)) = line.split_once("=@") else { return Some(line.to_owned()) };
        let end = rest.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(rest.len());
        let seconds: f64 = rest[..end].parse().ok()?;
        let at = began?.saturating_add(SignedDuration::try_from_secs_f64(seconds).ok()?).ok()?;
        Some(format!("{before}={}{}", at.strftime("%F %T%.3f"), &rest[end..]))
    });
    lines.collect()
}

/// Returns paths and texts of the events of a report: one for each step whose end is in the trace, as the scripts write them.
pub(crate) fn events(report: &str) -> Vec<(String, String)> {
    let report: Value = serde_json::from_str(report).unwrap_or_default();
    let trace = report["Output"].as_str().unwrap_or_default();
    let (mut task, mut start, mut events) = ("", "", Vec::new());
    for line in trace.lines() {
        let time = |name: &str| {
            Some(line.strip_prefix("+ local '")?.strip_prefix(name)?.trim_end_matches('\''))
        };
        if let Some(name) = line.strip_prefix("+ local task=") {
            (task, start) = (name, "");
        } else if let Some(time) = time("startTime=") {
            start = time;
        } else if let Some(end) = time("endTime=").filter(|_| !start.is_empty()) {
            let event = json!({
                "Timestamp": start, "OperationId": end, "Version": "1.23", "TaskName": task,
                "EventLevel": "Informational", "Message": "Completed", "EventPid": "1", "EventTid": "1",
            });
            let name: String = start.chars().filter(char::is_ascii_digit).collect();
            events.push((format!("{EVENTS}/{name}.json"), event.to_string()));
        }
    }
    events
}

/// Returns the end of a stream in at most so many bytes, without splitting a character.
pub(super) fn end_of(stream: &str, most: usize) -> &str {
    &stream[stream.ceil_char_boundary(stream.len().saturating_sub(most))..]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::azure::Cse;

    #[test]
    fn report_has_the_recorded_members_in_order() {
        assert_eq!(
            report(50, "+ exit 50\n", "", 60, None),
            "{ \"ExitCode\": \"50\", \"Output\": \"+ exit 50\\n\", \"Error\": \"\", \"ExecDuration\": \"60\" }\n"
        );
    }

    #[test]
    fn times_of_a_report_are_relative_to_its_start() {
        let began = "2026-11-15T02:11:13Z".parse().unwrap();
        let output = "+ a\n+ local 'startTime=@1.250'\n+ exit 50\n";
        let text = report(50, output, "", 60, Some(began));
        assert!(text.contains("startTime=2026-11-15 02:11:14.250'"), "{text}");
        assert!(text.contains("\"KernelStartTime\": \"Sun 2026-11-15 02:10:43 UTC\""), "{text}");
        assert!(text.contains("\"CSEStartTime\": \"Sun Nov 15 02:11:13 UTC 2026\""), "{text}");
        assert!(report(50, output, "", 60, None).contains("+ a\\n+ exit 50"));
    }

    #[test]
    fn ended_steps_of_a_report_have_events() {
        let began = "2026-11-15T02:11:13Z".parse().unwrap();
        let cse = Cse::oras_missing();
        let events = events(&report(211, &cse.output, "", 75, Some(began)));
        let [(path, text)] = &events[..] else { panic!("{events:?}") };
        assert!(path.ends_with("/events/20261115021132870.json"), "{path}");
        let event: Value = serde_json::from_str(text).unwrap();
        assert_eq!(event["TaskName"], "AKS.CSE.setCPUArch");
        assert_eq!(event["OperationId"], "2026-11-15 02:11:32.880");
        assert!(super::events(&report(211, &cse.output, "", 75, None)).is_empty());
    }

    #[test]
    fn long_output_is_cut_before_it_is_escaped() {
        let cse = Cse { exit_code: 50, output: "\"".repeat(5000), ..Cse::default() };
        let report = report(50, &cse.output, "", 60, None);
        assert!(report.starts_with("{ \"ExitCode\": \"50\""), "{report}");
        let value: Value = serde_json::from_str(&report).unwrap();
        assert_eq!(value["Output"].as_str().map(str::len), Some(3000));
        // Escaped characters take two bytes, so the handler cuts off the exit code.
        let message = cse.message();
        assert!(report.len() > KEPT_BYTES && !message.contains("ExitCode"), "{message:.80}");
        assert!(message.contains("exit status=50"), "{message:.80}");
    }
}
