//! All that a node's files tell, before it is put together.

use jiff::Timestamp;
use jiff::tz::Offset;
use serde_json::{Map, Value};

use crate::escape::tidy;
use crate::field::System;
use crate::files::{Content, File, content};
use crate::read::{self, Event, Facts, MOST, Told, Traced};
use crate::stamp::{self, Stamp};
use crate::timeline::Skipped;

/// What a node's files tell, each in its own words.
#[derive(Debug, Default)]
pub(crate) struct Gathered {
    pub(crate) told: Vec<Told>,
    /// What the scripts' last event says of the whole.
    pub(crate) summary: Map<String, Value>,
    pub(crate) report: Option<Facts>,
    /// The text that a cause is looked for in.
    pub(crate) report_text: Vec<u8>,
    /// The report of the attempt before, and the text that its cause is looked for in.
    pub(crate) earlier: Option<(Facts, Vec<u8>)>,
    /// Steps that the trace begins and does not end.
    pub(crate) open: Vec<(String, Option<Stamp>)>,
    pub(crate) host: Option<String>,
    pub(crate) system: Option<System>,
    /// How far the machine's time is from UTC, if anything tells.
    pub(crate) offset: Option<Offset>,
    pub(crate) skipped: Vec<Skipped>,
}

/// Reads every file. What is broken is named and left out.
pub(crate) fn gather(files: &[&File]) -> Gathered {
    let mut gathered = Gathered::default();
    let mut events: Vec<Event> = Vec::new();
    let mut traces: Vec<Traced> = Vec::new();
    for file in files {
        let text = || String::from_utf8_lossy(&file.bytes);
        let broken = match content(file, files.len() == 1) {
            Content::Report => take_report(&mut gathered, file, true).err(),
            Content::EarlierReport => read::report(&file.bytes)
                .map(|facts| gathered.earlier = Some((facts, file.bytes.clone())))
                .err(),
            Content::Message => take_report(&mut gathered, file, false).err(),
            Content::Event if events.len() >= MOST => Some(format!("more than {MOST} events")),
            Content::Event => {
                read::event(&file.path, &file.bytes).map(|event| events.push(event)).err()
            }
            other => {
                match other {
                    Content::Trace => traces.push(read::trace(&text())),
                    Content::AgentLog => gathered.told.extend(read::agent_log(&text())),
                    Content::CloudInit => gathered.told.extend(read::cloud_init(&text())),
                    Content::Handler => gathered.told.extend(read::handler(&text())),
                    Content::Wrapper => {
                        gathered.host = gathered.host.take().or_else(|| host(&text()));
                    }
                    Content::Release => gathered.system = System::of_release(&text()),
                    _ => {}
                }
                None
            }
        };
        if let Some(why) = broken {
            gathered.skipped.push(Skipped { path: tidy(&file.path, 300), why });
        }
    }
    if traces.is_empty()
        && let Some(report) = &gathered.report
    {
        traces.push(read::trace(&lines_again(&report.status.output)));
    }
    gathered.offset = offset(&events);
    for event in events {
        if !event.summary.is_empty() {
            gathered.summary = event.summary;
        }
        gathered.told.push(event.told);
    }
    for trace in traces {
        gathered.told.extend(trace.steps);
        if !trace.open.is_empty() {
            gathered.open = trace.open;
        }
    }
    let timings = gathered.report.as_ref().map(|report| &report.status.timings);
    let boot = read::boot(timings, &gathered.summary);
    gathered.told.extend(boot);
    gathered
}

/// The first report counts; others are copies of it.
fn take_report(gathered: &mut Gathered, file: &File, is_own: bool) -> Result<(), String> {
    let facts = read::report(&file.bytes)?;
    let is_better = is_own && !gathered.report_text.trim_ascii_start().starts_with(b"{");
    if gathered.report.is_none() || is_better {
        gathered.report = Some(facts);
        gathered.report_text.clone_from(&file.bytes);
    }
    Ok(())
}

/// What the scripts print on standard output has lost its line ends.
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
    (is_name && stamp::read(when).is_some()).then(|| host.to_owned())
}

/// Events have local times, and the instant in their names: what most of them say is the machine's zone.
fn offset(events: &[Event]) -> Option<Offset> {
    let mut votes: Vec<(Offset, usize)> = Vec::new();
    for event in events {
        let (Some(named), Stamp::Local(local)) = (event.named, event.named_stamp()) else {
            continue;
        };
        let Some(offset) = stamp::offset_between(local, named) else { continue };
        match votes.iter_mut().find(|(known, _)| *known == offset) {
            Some((_, count)) => *count += 1,
            None => votes.push((offset, 1)),
        }
    }
    votes.into_iter().max_by_key(|(_, count)| *count).map(|(offset, _)| offset)
}

impl Gathered {
    /// The instant of a stamp on this machine.
    pub(crate) fn at(&self, stamp: Stamp) -> Option<Timestamp> {
        stamp.at(self.offset.unwrap_or(Offset::UTC))
    }
}
