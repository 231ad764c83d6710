//! Collects the data of a node's files.

use jiff::Timestamp;
use jiff::tz::Offset;
use serde_json::{Map, Value};

use super::files::{FileContent, TraceFile, content};
use super::logs::{self, Traced};
use super::report::{self, ReportFacts};
use super::timestamp::{self, Stamp};
use super::{MAX_MESSAGE, MAX_NAME, MAX_SPANS, RawSpan, kind_of};
use crate::escape::tidy;
use crate::life::NodeLife;
use crate::production::System;
use crate::timeline::{SkippedFile, SpanKind, SpanSource};

/// Data of a node's files, not yet on one clock.
#[derive(Debug, Default)]
pub(crate) struct NodeData {
    pub(crate) spans: Vec<RawSpan>,
    /// Fields of the scripts' last event.
    pub(crate) summary: Map<String, Value>,
    pub(crate) report: Option<ReportFacts>,
    /// The text to diagnose.
    pub(crate) report_text: Vec<u8>,
    /// The report of the previous attempt, and its text to diagnose.
    pub(crate) earlier: Option<(ReportFacts, Vec<u8>)>,
    /// Steps without an end in the trace.
    pub(crate) open: Vec<(String, Option<Stamp>)>,
    /// The last step whose function the trace calls without a start.
    pub(crate) called: Option<&'static str>,
    pub(crate) host: Option<String>,
    pub(crate) system: Option<System>,
    /// The node's time zone, if known.
    pub(crate) offset: Option<Offset>,
    /// Facts of the cluster and of Azure.
    pub(crate) life: Option<NodeLife>,
    pub(crate) skipped: Vec<SkippedFile>,
}

/// Reads every file. Invalid ones are listed in `skipped`.
pub(crate) fn collect(files: &[&TraceFile]) -> NodeData {
    let mut data = NodeData::default();
    let mut events: Vec<RecordedEvent> = Vec::new();
    let mut traces: Vec<Traced> = Vec::new();
    for file in files {
        let text = || String::from_utf8_lossy(&file.bytes);
        let broken = match content(file, files.len() == 1) {
            FileContent::Report => take_report(&mut data, file, true).err(),
            FileContent::EarlierReport => report::read(&file.bytes)
                .map(|facts| data.earlier = Some((facts, file.bytes.clone())))
                .err(),
            FileContent::Message => take_report(&mut data, file, false).err(),
            FileContent::NodeLife(kind) => {
                data.life.get_or_insert_default().add(kind, &file.bytes).err()
            }
            FileContent::Event if events.len() >= MAX_SPANS => {
                Some(format!("more than {MAX_SPANS} events"))
            }
            FileContent::Event => {
                read_event(&file.path, &file.bytes).map(|event| events.push(event)).err()
            }
            other => {
                match other {
                    FileContent::Trace => traces.push(logs::trace(&text())),
                    FileContent::AgentLog => data.spans.extend(logs::agent_log(&text())),
                    FileContent::CloudInit => data.spans.extend(logs::cloud_init(&text())),
                    FileContent::Handler => data.spans.extend(logs::handler(&text())),
                    FileContent::Wrapper => {
                        data.host = data.host.take().or_else(|| host(&text()));
                    }
                    FileContent::Release => data.system = System::of_release(&text()),
                    _ => {}
                }
                None
            }
        };
        if let Some(why) = broken {
            data.skipped.push(SkippedFile { path: tidy(&file.path, 300), why });
        }
    }
    if traces.is_empty()
        && let Some(report) = &data.report
    {
        traces.push(logs::trace(&lines_again(&report.status.output)));
    }
    data.offset = offset(&events);
    for event in events {
        if !event.summary.is_empty() {
            data.summary = event.summary;
        }
        data.spans.push(event.span);
    }
    for trace in traces {
        data.spans.extend(trace.steps);
        if !trace.open.is_empty() {
            data.open = trace.open;
            data.called = trace.called;
        }
    }
    let timings = data.report.as_ref().map(|report| &report.status.timings);
    let boot = report::boot(timings, &data.summary);
    data.spans.extend(boot);
    data
}

/// The first report counts; others are copies of it.
fn take_report(data: &mut NodeData, file: &TraceFile, is_own: bool) -> Result<(), String> {
    let facts = report::read(&file.bytes)?;
    let is_better = is_own && !data.report_text.trim_ascii_start().starts_with(b"{");
    if data.report.is_none() || is_better {
        data.report = Some(facts);
        data.report_text.clone_from(&file.bytes);
    }
    Ok(())
}

/// Restores line ends, which the standard output of the scripts has lost.
fn lines_again(output: &str) -> String {
    if output.contains('\n') {
        return output.to_owned();
    }
    output.replace(" + ", "\n+ ").replace(" ++ ", "\n++ ")
}

/// The wrapper's first line is `date,host`.
fn host(text: &str) -> Option<String> {
    let (when, host) = text.lines().next()?.split_once(',')?;
    let host = host.split(',').next().unwrap_or(host).trim();
    let plain = |c: char| c.is_ascii_alphanumeric() || "-._".contains(c);
    let is_name = !host.is_empty() && host.len() <= 253 && host.chars().all(plain);
    (is_name && timestamp::read(when).is_some()).then(|| host.to_owned())
}

/// Events have local times, and the instant in their file names; the most frequent difference is the time zone.
fn offset(events: &[RecordedEvent]) -> Option<Offset> {
    let mut votes: Vec<(Offset, usize)> = Vec::new();
    for event in events {
        let (Some(named), Stamp::Local(local)) = (event.named, event.named_stamp()) else {
            continue;
        };
        let Some(offset) = timestamp::offset_between(local, named) else { continue };
        match votes.iter_mut().find(|(known, _)| *known == offset) {
            Some((_, count)) => *count += 1,
            None => votes.push((offset, 1)),
        }
    }
    votes.into_iter().max_by_key(|(_, count)| *count).map(|(offset, _)| offset)
}

impl NodeData {
    pub(crate) fn at(&self, stamp: Stamp) -> Option<Timestamp> {
        stamp.at(self.offset.unwrap_or(Offset::UTC))
    }
}

#[derive(Debug)]
struct RecordedEvent {
    pub(crate) span: RawSpan,
    /// The instant in the file's name: the start for the scripts, the end for the agent.
    pub(crate) named: Option<Timestamp>,
    /// Fields of the last event of the scripts.
    pub(crate) summary: Map<String, Value>,
}

/// Parses an event for the guest agent, one per file.
fn read_event(path: &str, bytes: &[u8]) -> Result<RecordedEvent, String> {
    let text = String::from_utf8_lossy(bytes);
    let event: Map<String, Value> = serde_json::from_str(&text).map_err(|error| {
        let cut = if error.is_eof() { "it ends too early" } else { "not a JSON object" };
        format!("{cut} (line {}, column {})", error.line(), error.column())
    })?;
    let member = |name: &str| event.get(name).and_then(Value::as_str).unwrap_or_default();
    let task = tidy(member("TaskName").trim(), MAX_NAME);
    if task.is_empty() {
        return Err("it has no TaskName".to_owned());
    }
    let start = timestamp::read(member("Timestamp")).ok_or("invalid Timestamp")?;
    let message = member("Message");
    // The agent also writes an event at the start; the scripts only at the end of a step.
    let is_beginning = message.starts_with("Starting");
    let end = timestamp::read(member("OperationId")).filter(|_| !is_beginning);
    let kind = kind_of(&task);
    let summary = match kind {
        SpanKind::Run => serde_json::from_str(message).unwrap_or_default(),
        _ => Map::new(),
    };
    let code = summary.get("ExitCode").map(exit_code).unwrap_or_default();
    let failed = member("EventLevel") == "Error" || !matches!(code.as_str(), "" | "0");
    let text = match message {
        _ if is_hotfix(&task) => message.split(" | startTime=").next().unwrap_or_default(),
        _ if failed && kind != SpanKind::Run => message,
        _ => "",
    };
    let message = tidy(&mooring_redact::mask_line(text), MAX_MESSAGE);
    let name = path.rsplit('/').next().unwrap_or(path);
    let span =
        RawSpan { end, failed, message, ..RawSpan::new(task, kind, start, SpanSource::Event) };
    Ok(RecordedEvent { span, named: timestamp::of_file_name(name), summary })
}

/// Events about hotfixes have messages with versions.
fn is_hotfix(task: &str) -> bool {
    task.starts_with("AKS.AKSNodeController.") && task.ends_with("Hotfix")
}

/// Returns a string or a number as text.
pub(crate) fn exit_code(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

impl RecordedEvent {
    /// The timestamp that matches the instant in the file's name.
    pub(crate) fn named_stamp(&self) -> Stamp {
        match (self.span.name.starts_with("AKS.AKSNodeController."), self.span.end) {
            (true, Some(end)) => end,
            _ => self.span.start,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn event_file(path: &str, task: &str, start: &str, end: &str) -> TraceFile {
        let text = format!(
            r#"{{"Timestamp":"2026-11-15 {start}","OperationId":"2026-11-15 {end}","TaskName":"{task}"}}"#
        );
        TraceFile { path: format!("azure/events/{path}.json"), bytes: text.into() }
    }

    fn collected(files: &[TraceFile]) -> NodeData {
        collect(&files.iter().collect::<Vec<_>>())
    }

    #[test]
    fn most_frequent_difference_is_the_time_zone() {
        // Named after 02:00:00 UTC.
        let one = |hour: u32| {
            event_file("1794708000000", "AKS.CSE.a", &format!("{hour:02}:00:00"), "08:00:00")
        };
        let offset = |hours: [u32; 3]| collected(&hours.map(one)).offset;
        assert_eq!(offset([3, 3, 4]), Some(Offset::constant(1)));
        assert_eq!(offset([4, 3, 3]), Some(Offset::constant(1)));
        // An event of the agent is named after its end.
        let task = "AKS.AKSNodeController.Provision";
        let agent = event_file("1794708000000", task, "03:40:00", "04:00:00");
        assert_eq!(collected(&[agent]).offset, Some(Offset::constant(2)));
        assert_eq!(collected(&[event_file("x", task, "03:40:00", "04:00:00")]).offset, None);
    }

    #[test]
    fn number_of_events_is_limited() {
        let files = vec![event_file("x", "AKS.CSE.a", "02:00:00", "02:00:01"); MAX_SPANS + 1];
        let data = collected(&files);
        assert_eq!((data.spans.len(), data.skipped.len()), (MAX_SPANS, 1));
        assert_eq!(data.skipped[0].why, "more than 5000 events");
    }

    #[test]
    fn host_name_follows_a_date() {
        let date = "Sun Nov 15 02:00:00 UTC 2026";
        let of = |line: &str| host(&format!("{line}\nother,line"));
        assert_eq!(of(&format!("{date},aks-1,more")).as_deref(), Some("aks-1"));
        let longest = "a".repeat(253);
        assert_eq!(of(&format!("{date},{longest}")), Some(longest.clone()));
        for line in [
            format!("{date},"),
            format!("{date},a b"),
            format!("{date},{longest}a"),
            date.to_owned(),
            "yesterday,aks-1".to_owned(),
        ] {
            assert_eq!(of(&line), None, "{line}");
        }
    }

    #[test]
    fn invalid_event_returns_a_reason() {
        let why = |text: &str| read_event("1.json", text.as_bytes()).unwrap_err();
        assert_eq!(why("{\"TaskName\":\"x"), "it ends too early (line 1, column 14)");
        assert_eq!(why("[]"), "not a JSON object (line 1, column 0)");
        assert_eq!(why("{}"), "it has no TaskName");
        assert_eq!(why(r#"{"TaskName":"a","Timestamp":"n/a"}"#), "invalid Timestamp");
    }

    #[test]
    fn message_of_a_failed_agent_is_redacted() {
        let text = r#"{"Timestamp":"2026-11-15 02:15:28.123","OperationId":"2026-11-15 02:15:29.123","TaskName":"AKS.AKSNodeController.Provision","EventLevel":"Error","Message":"exited with error TLS_BOOTSTRAP_TOKEN=abcdef.0123456789abcdef"}"#;
        let event = read_event("1.json", text.as_bytes()).unwrap();
        assert!(event.span.failed && event.span.kind == SpanKind::Agent);
        assert_eq!(event.span.message, "exited with error TLS_BOOTSTRAP_TOKEN=[secret]");
    }

    #[test]
    fn hotfix_is_quoted_although_nothing_failed() {
        let text = r#"{"Timestamp":"2026-11-15 02:15:28.123","TaskName":"AKS.AKSNodeController.Hotfix","EventLevel":"Informational","Message":"hotfix binary=202604.01.0 scripts=202604.01.1 | startTime=x"}"#;
        let event = read_event("1.json", text.as_bytes()).unwrap();
        assert_eq!(event.span.message, "hotfix binary=202604.01.0 scripts=202604.01.1");
    }
}
