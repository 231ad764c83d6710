//! Parses logs of a node: those of the agent, cloud-init and the extension handler, and the scripts' trace.

use serde_json::{Map, Value};

use super::timestamp::{self, Stamp};
use super::{MAX_MESSAGE, MAX_NAME, MAX_SPANS, RawSpan, kind_of};
use crate::escape::tidy;
use crate::steps;
use crate::timeline::{SpanKind, SpanSource};

/// Parses the agent's log, one JSON object per line. Returns the span from each `started` to its end. Ends have no id; the process that started first ends first, since
/// the other one waits for it.
pub(crate) fn agent_log(text: &str) -> Vec<RawSpan> {
    let mut spans: Vec<RawSpan> = Vec::new();
    for line in text.lines().filter(|line| line.contains("aks-node-controller ")) {
        let Ok(record) = serde_json::from_str::<Map<String, Value>>(line) else { continue };
        let member = |name: &str| record.get(name).and_then(Value::as_str).unwrap_or_default();
        let Some(at) = timestamp::read(member("time")) else { continue };
        let message = member("msg");
        if message == "aks-node-controller started" && spans.len() < MAX_SPANS {
            let task = tidy(member("task"), 40);
            if task.is_empty() {
                continue;
            }
            let name = format!("AKS.AKSNodeController.{task}");
            let kind = kind_of(&name);
            spans.push(RawSpan::new(name, kind, at, SpanSource::AgentLog));
        } else if let Some(open) = spans.iter_mut().find(|one| one.end.is_none()) {
            let failed = message == "aks-node-controller failed";
            if failed || message.starts_with("aks-node-controller finished") {
                open.end = Some(at);
                open.failed = failed;
                open.message = tidy(&mooring_redact::mask_line(member("error")), MAX_MESSAGE);
            }
        }
    }
    spans
}

/// Parses cloud-init's log: `… - handlers.py[DEBUG]: start: init-local: …` and `finish: init-local: SUCCESS: …`.
///
/// Returns cloud-init's stages without their parts (`init-local/search-Azure`).
pub(crate) fn cloud_init(text: &str) -> Vec<RawSpan> {
    let mut spans: Vec<RawSpan> = Vec::new();
    for line in text.lines() {
        let Some((when, said)) = line.split_once(" - ") else { continue };
        let Some((_, said)) = said.split_once("]: ") else { continue };
        let Some((word, rest)) = said.split_once(": ") else { continue };
        let Some((stage, rest)) = rest.split_once(": ") else { continue };
        if !matches!(word, "start" | "finish") || stage.contains(['/', ' ']) {
            continue;
        }
        let Some(at) = timestamp::read(when) else { continue };
        let name = format!("cloud-init {}", tidy(stage, 40));
        if word == "start" && spans.len() < MAX_SPANS {
            spans.push(RawSpan::new(name, SpanKind::Boot, at, SpanSource::CloudInit));
        } else if let Some(open) =
            spans.iter_mut().rev().find(|one| one.name == name && one.end.is_none())
        {
            open.end = Some(at);
            open.failed = rest.starts_with("FAIL");
        }
    }
    spans
}

/// Parses the extension handler's log: `time=… operation=enable … event=…` per line.
///
/// Returns the span from the first to the last line of the handler's last `enable`.
pub(crate) fn handler(text: &str) -> Vec<RawSpan> {
    let mut last: Option<(Stamp, Stamp, bool)> = None;
    for line in text.lines().filter(|line| field(line, "operation") == Some("enable")) {
        let when = field(line, "time").or_else(|| field(line, "ts"));
        let Some(at) = when.and_then(timestamp::read) else { continue };
        let failed = line.contains("failed to execute command");
        last = match last {
            Some((start, _, before)) if field(line, "event") != Some("start") => {
                Some((start, at, before || failed))
            }
            _ => Some((at, at, failed)),
        };
    }
    let name = "extension handler: enable";
    let one = |(start, end, failed)| RawSpan {
        end: Some(end),
        failed,
        ..RawSpan::new(name, SpanKind::Beside, start, SpanSource::Handler)
    };
    last.into_iter().map(one).collect()
}

/// Returns the value of `name=value` in a line, without quotes.
fn field<'a>(line: &'a str, name: &str) -> Option<&'a str> {
    line.split(' ')
        .find_map(|word| word.strip_prefix(name)?.strip_prefix('='))
        .map(|value| value.trim_matches('"'))
}

#[derive(Debug, Default, PartialEq)]
pub(crate) struct Traced {
    /// Steps with a known start.
    pub(crate) steps: Vec<RawSpan>,
    /// Unfinished steps, outermost first, with their starts if known.
    pub(crate) open: Vec<(String, Option<Stamp>)>,
    /// The last step whose function is called without a start: its first lines were cut off.
    pub(crate) called: Option<&'static str>,
}

const MAX_DEPTH: usize = 32;

/// Parses the scripts' trace, complete or only its end: the output of `bash -x`, which contains the start and the end of each
/// step. A step that ends the whole run from inside writes no event, but its start is in the trace.
pub(crate) fn trace(text: &str) -> Traced {
    let mut traced = Traced::default();
    let mut stack: Vec<(String, Option<Stamp>)> = Vec::new();
    for line in text.lines() {
        let Some(command) =
            line.strip_prefix('+').map(|rest| rest.trim_start_matches('+').trim_start())
        else {
            continue;
        };
        if let Some(rest) = command.strip_prefix("logs_to_events ") {
            let name = rest.trim_start_matches(['\'', '"']);
            let name = name.split([' ', '\'', '"']).next().unwrap_or_default();
            if name.starts_with("AKS.") && stack.len() < MAX_DEPTH {
                stack.push((tidy(name, MAX_NAME), None));
                traced.called = None;
            }
        } else if let Some(step) = steps::by_function(command)
            && stack.last().is_none_or(|(open, _)| open.strip_prefix("AKS.CSE.") != Some(step))
        {
            traced.called = Some(step);
        } else if let Some(at) = assigned(command, "startTime=") {
            if let Some((_, start @ None)) = stack.last_mut() {
                *start = Some(at);
            }
        } else if let Some(at) = assigned(command, "endTime=")
            && let Some((name, start)) = stack.pop()
            && let Some(start) = start
            && traced.steps.len() < MAX_SPANS
        {
            traced.steps.push(step(name, start, Some(at)));
        }
    }
    for (name, start) in &stack {
        if let Some(start) = start {
            traced.steps.push(step(name.clone(), *start, None));
        }
    }
    traced.open = stack;
    traced
}

fn step(name: String, start: Stamp, end: Option<Stamp>) -> RawSpan {
    let kind = kind_of(&name);
    RawSpan { end, ..RawSpan::new(name, kind, start, SpanSource::Trace) }
}

/// Returns the time after `startTime=`, quoted by bash or not.
fn assigned(command: &str, name: &str) -> Option<Stamp> {
    let command = command.strip_prefix("local ").unwrap_or(command);
    let command = command.trim_start_matches(['\'', '"']);
    let value = command.strip_prefix(name)?;
    timestamp::read(value.trim_matches(['\'', '"', ' ']))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn first_started_process_ends_first() {
        let spans = agent_log(concat!(
            r#"{"time":"2026-11-15T02:00:00.5Z","level":"INFO","msg":"aks-node-controller started","task":"Provision"}"#,
            "\n",
            r#"{"time":"2026-11-15T02:00:10Z","level":"INFO","msg":"aks-node-controller started","task":"ProvisionWait"}"#,
            "\n",
            "{\"time\": torn aks-node-controller \n",
            r#"{"time":"2026-11-15T02:00:20Z","level":"ERROR","msg":"aks-node-controller failed","error":"exit status 50"}"#,
            "\n",
        ));
        let seen: Vec<_> =
            spans.iter().map(|one| (one.name.as_str(), one.end.is_some(), one.failed)).collect();
        assert_eq!(
            seen,
            [
                ("AKS.AKSNodeController.Provision", true, true),
                ("AKS.AKSNodeController.ProvisionWait", false, false)
            ]
        );
        assert_eq!(spans[0].message, "exit status 50");
    }

    #[test]
    fn number_of_processes_is_limited() {
        let start = r#"{"time":"2026-11-15T02:00:00Z","msg":"aks-node-controller started","task":"Provision"}"#;
        assert_eq!(agent_log(&format!("{start}\n").repeat(MAX_SPANS + 1)).len(), MAX_SPANS);
    }

    #[test]
    fn stages_are_read_without_their_parts() {
        let spans = cloud_init(
            "2026-11-15 02:00:02,100 - handlers.py[DEBUG]: start: init-local: searching for local datasources\n\
             2026-11-15 02:00:02,200 - handlers.py[DEBUG]: start: init-local/search-Azure: searching\n\
             2026-11-15 02:00:03,900 - handlers.py[DEBUG]: finish: init-local: SUCCESS: searching for local datasources\n\
             2026-11-15 02:00:06,000 - handlers.py[DEBUG]: start: init-network: searching\n\
             2026-11-15 02:00:07,000 - handlers.py[DEBUG]: finish: init-network: FAIL: searching\n",
        );
        let seen: Vec<_> = spans.iter().map(|one| (one.name.as_str(), one.failed)).collect();
        assert_eq!(seen, [("cloud-init init-local", false), ("cloud-init init-network", true)]);
        assert!(spans.iter().all(|one| one.end.is_some()));
    }

    #[test]
    fn finish_ends_the_open_stage_of_its_name() {
        let line = |second: u32, said: &str| {
            format!("2026-11-15 02:00:{second:02},000 - handlers.py[DEBUG]: {said}\n")
        };
        let log = [
            line(1, "start: init: x"),
            line(2, "finish: init: SUCCESS: x"),
            line(3, "start: init: x"),
            line(4, "start: modules: x"),
            line(5, "finish: init: FAIL: x"),
            line(6, "finish: init: SUCCESS: x"),
        ];
        let spans = cloud_init(&log.concat());
        let at = |second: u32| timestamp::read(&format!("2026-11-15 02:00:{second:02}"));
        let seen: Vec<_> = spans.iter().map(|one| (&*one.name, one.end, one.failed)).collect();
        let expected = [
            ("cloud-init init", at(2), false),
            ("cloud-init init", at(5), true),
            ("cloud-init modules", None, false),
        ];
        assert_eq!(seen, expected);
    }

    #[test]
    fn number_of_stages_is_limited() {
        let start = "2026-11-15 02:00:02,100 - handlers.py[DEBUG]: start: init: x\n";
        assert_eq!(cloud_init(&start.repeat(MAX_SPANS + 1)).len(), MAX_SPANS);
    }

    #[test]
    fn the_last_enable_counts() {
        let spans = handler(
            "time=2026-11-15T02:00:00Z operation=install seq=0 event=start\n\
             time=2026-11-15T02:00:01Z version=v2.1.17 operation=enable seq=0 event=start\n\
             time=2026-11-15T02:00:05Z version=v2.1.17 operation=enable seq=0 event=\"failed to execute command\"\n\
             time=2026-11-15T02:00:06Z version=v2.1.17 operation=enable seq=0 event=\"status\"\n",
        );
        assert_eq!(spans.len(), 1);
        assert!(spans[0].failed);
        assert_eq!(spans[0].start, timestamp::read("2026-11-15T02:00:01Z").unwrap());
        assert_eq!(spans[0].end, timestamp::read("2026-11-15T02:00:06Z"));
        let spans = handler(
            "time=2026-11-15T02:00:01Z operation=enable event=start\n\
             time=2026-11-15T02:00:05Z operation=enable event=\"failed to execute command\"\n\
             time=2026-11-15T02:10:01Z operation=enable event=start\n\
             time=2026-11-15T02:10:05Z operation=enable event=end\n",
        );
        assert_eq!(spans.len(), 1);
        assert!(!spans[0].failed);
        assert_eq!(spans[0].start, timestamp::read("2026-11-15T02:10:01Z").unwrap());
    }

    const TEXT: &str = "\
+ logs_to_events AKS.CSE.outer outer
+ local task=AKS.CSE.outer
++ date '+%F %T.%3N'
+ local 'startTime=2026-11-15 02:15:28.100'
+ outer
++ logs_to_events AKS.CSE.outer.inner 'inner --x'
++ startTime='2026-11-15 02:15:28.200'
++ endTime='2026-11-15 02:15:28.900'
+ local 'endTime=2026-11-15 02:15:29.000'
not a trace: startTime=2026-11-15 02:15:00.000
+ logs_to_events AKS.CSE.last last
+ local 'startTime=2026-11-15 02:15:30.000'
+ exit 50
";

    #[test]
    fn steps_are_nested_and_the_last_one_stays_open() {
        let traced = trace(TEXT);
        let names: Vec<_> =
            traced.steps.iter().map(|step| (step.name.as_str(), step.end.is_some())).collect();
        assert_eq!(
            names,
            [("AKS.CSE.outer.inner", true), ("AKS.CSE.outer", true), ("AKS.CSE.last", false)]
        );
        assert_eq!(traced.open.len(), 1);
    }

    #[test]
    fn function_of_another_step_is_called_without_a_start() {
        let called = |text: &str| trace(text).called;
        let oras = "orasLogin.oras_login_with_kubelet_identity";
        let head = "+ logs_to_events AKS.CSE.setCPUArch setCPUArch\n+ setCPUArch\n";
        assert_eq!(called(head), None);
        let text = format!("{head}+ oras_login_with_kubelet_identity x\n+ exit 211\n");
        assert_eq!(called(&text), Some(oras));
        assert_eq!(called(&format!("{text}+ logs_to_events AKS.CSE.configureK8s x\n")), None);
    }

    #[test]
    fn end_of_a_trace_identifies_its_step_without_a_time() {
        let traced = trace("ime=2026\n+ logs_to_events AKS.CSE.apiserverCurl curl\n+ exit 51");
        assert_eq!(traced.open, [("AKS.CSE.apiserverCurl".to_owned(), None)]);
        assert_eq!(traced.steps, []);
    }

    #[test]
    fn steps_of_others_and_excess_steps_are_ignored() {
        assert_eq!(trace("+ logs_to_events other.step x\n"), Traced::default());
        let start = "+ logs_to_events AKS.CSE.a a\n";
        assert_eq!(trace(&start.repeat(MAX_DEPTH + 1)).open.len(), MAX_DEPTH);
        let step =
            format!("{start}+ startTime=2026-11-15T02:00:00\n+ endTime=2026-11-15T02:00:01\n");
        assert_eq!(trace(&step.repeat(MAX_SPANS + 1)).steps.len(), MAX_SPANS);
    }
}
