//! Parses the scripts' trace: the output of `bash -x`, which contains the start and the end of each step.
//!
//! A step that ends the whole run from inside writes no event, but its start is in the trace.

use super::timestamp::{self, Stamp};
use super::{MAX_NAME, MAX_SPANS, RawSpan, kind_of};
use crate::escape::tidy;
use crate::model::steps;
use crate::model::timeline::SpanSource;

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

/// Parses a trace, complete or only its end.
pub(crate) fn read(text: &str) -> Traced {
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
        let traced = read(TEXT);
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
        let called = |text: &str| read(text).called;
        let oras = "orasLogin.oras_login_with_kubelet_identity";
        let head = "+ logs_to_events AKS.CSE.setCPUArch setCPUArch\n+ setCPUArch\n";
        assert_eq!(called(head), None);
        let text = format!("{head}+ oras_login_with_kubelet_identity x\n+ exit 211\n");
        assert_eq!(called(&text), Some(oras));
        assert_eq!(called(&format!("{text}+ logs_to_events AKS.CSE.configureK8s x\n")), None);
    }

    #[test]
    fn end_of_a_trace_identifies_its_step_without_a_time() {
        let traced = read("ime=2026\n+ logs_to_events AKS.CSE.apiserverCurl curl\n+ exit 51");
        assert_eq!(traced.open, [("AKS.CSE.apiserverCurl".to_owned(), None)]);
        assert_eq!(traced.steps, []);
    }

    #[test]
    fn steps_of_others_and_excess_steps_are_ignored() {
        assert_eq!(read("+ logs_to_events other.step x\n"), Traced::default());
        let start = "+ logs_to_events AKS.CSE.a a\n";
        assert_eq!(read(&start.repeat(MAX_DEPTH + 1)).open.len(), MAX_DEPTH);
        let step =
            format!("{start}+ startTime=2026-11-15T02:00:00\n+ endTime=2026-11-15T02:00:01\n");
        assert_eq!(read(&step.repeat(MAX_SPANS + 1)).steps.len(), MAX_SPANS);
    }
}
