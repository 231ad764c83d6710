//! Reports as text, on standard output.

use mooring_redact::{markdown, printable};
use mooring_repair::history::summaries;
use mooring_repair::plan;
use mooring_repair::plan::{Document, Plan};
use mooring_repair::report::{DetectionReport, RunReport};
use mooring_repair::shell::JournalStatus;
use mooring_repair::verdict::Verdict;
use mooring_repair::workflow::{Entry, Record};

use super::arguments::{Drawn, Plain, Written};
use crate::failure::Failure;
use crate::runs::{format_lock, write};
use crate::show::{json, print};

pub(crate) fn detection(report: &DetectionReport, output: Plain) -> Result<(), Failure> {
    let text = match output {
        Plain::Table => report.table(),
        Plain::Json => json(report)?,
    };
    print(text.as_bytes())
}

pub(crate) fn verdict(report: &DetectionReport) -> &'static str {
    match report.detection.verdict {
        Verdict::Healthy => "healthy",
        Verdict::Suspect => "suspect",
        Verdict::Confirmed => "confirmed to be wedged",
        Verdict::Unknown => "unknown",
    }
}

pub(crate) fn plan(plan: &Plan, output: Drawn) -> Result<(), Failure> {
    let text = match output {
        Drawn::Table => plan::table(plan),
        Drawn::Json => json(plan)?,
        Drawn::Markdown => plan::markdown(plan),
        Drawn::Mermaid => plan::mermaid(plan),
    };
    print(text.as_bytes())
}

/// Prints what could not be read about rights, for those who begin a run without its plan before them.
pub(crate) fn warnings(plan: &Plan) {
    for check in plan.prechecks.iter().filter(|check| mooring_repair::checks::warns(check)) {
        write(&format!("warning: {}: {}\n", check.name, printable(&check.detail())));
    }
}

pub(crate) fn report(report: &RunReport, output: Written) -> Result<(), Failure> {
    let text = match output {
        Written::Table => report.table(),
        Written::Json => json(report)?,
        Written::Markdown => report.markdown(),
    };
    print(text.as_bytes())
}

/// What the journal says of the last run, and of earlier ones.
pub(crate) fn standing(
    standing: &JournalStatus,
    all: bool,
    output: Written,
) -> Result<(), Failure> {
    let found = RunReport::of(&standing.records).map_err(|error| Failure::io(error.to_string()))?;
    let earlier = if all { summaries(&standing.records) } else { Vec::new() };
    if output == Written::Json {
        let value = serde_json::json!({
            "schema": "mooring.repair.status/v1", "journal": standing.place,
            "run": found, "plan": newest_plan(&standing.records), "runs": earlier, "lock": standing.lock,
        });
        return print(json(&value)?.as_bytes());
    }
    let Some(found) = found else {
        return print(format!("There is no run in {}.\n", standing.place).as_bytes());
    };
    let mut lines: Vec<(&str, String)> = Vec::new();
    lines.extend(standing.lock.iter().map(|lock| ("held", format_lock(lock))));
    for run in earlier {
        let end = run.finish.and_then(|finish| serde_json::to_value(finish).ok());
        let end = end.as_ref().and_then(|end| end.as_str()).unwrap_or("not over");
        lines.push(("run", format!("{} began {}: {end}", run.run, run.started)));
    }
    let (mut text, row): (String, fn(&str, &str) -> String) = match output {
        Written::Markdown => {
            (found.markdown(), |word, line| format!("\n- {word}: {}\n", markdown(line)))
        }
        _ => (found.table(), |word, line| format!("{word:<10} {}\n", printable(line))),
    };
    text.extend(lines.iter().map(|(word, line)| row(word, line)));
    print(text.as_bytes())
}

/// The plan that the journal holds last, with the pool as it was: evidence, not an approval.
fn newest_plan(records: &[Record]) -> Option<&Document> {
    records.iter().rev().find_map(|record| match &record.entry {
        Entry::RunStarted(session) | Entry::Resumed(session) => Some(&*session.plan),
        _ => None,
    })
}

impl TryFrom<Drawn> for Written {
    type Error = Failure;

    fn try_from(output: Drawn) -> Result<Self, Failure> {
        match output {
            Drawn::Table => Ok(Self::Table),
            Drawn::Json => Ok(Self::Json),
            Drawn::Markdown => Ok(Self::Markdown),
            Drawn::Mermaid => Err(Failure::usage(
                "-o mermaid draws a plan\nhint: `mooring repair plan`, or `apply --dry-run`"
                    .to_owned(),
            )),
        }
    }
}
