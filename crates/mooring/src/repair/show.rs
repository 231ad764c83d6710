//! Reports on stdout.

use mooring_redact::{markdown, printable};
use mooring_repair::history::summaries;
use mooring_repair::plan;
use mooring_repair::plan::{Document, Plan};
use mooring_repair::report::{DetectionReport, RunReport};
use mooring_repair::runtime::JournalStatus;
use mooring_repair::verdict::Verdict;
use mooring_repair::workflow::{Entry, Record};

use super::arguments::{DetectFormat, PlanFormat, RunFormat};
use crate::failure::Failure;
use crate::runs::{format_lock, write};
use crate::show::{json, print};

pub(crate) fn detection(report: &DetectionReport, output: DetectFormat) -> Result<(), Failure> {
    let text = match output {
        DetectFormat::Table => report.table(),
        DetectFormat::Json => json(report)?,
    };
    print(text.as_bytes())
}

pub(crate) fn verdict(report: &DetectionReport) -> &'static str {
    match report.detection.verdict {
        Verdict::Healthy => "NOT WEDGED",
        Verdict::Suspect => "SUSPECTED",
        Verdict::Confirmed => "WEDGED",
        Verdict::Unknown => "UNKNOWN",
    }
}

pub(crate) fn plan(plan: &Plan, output: PlanFormat) -> Result<(), Failure> {
    let text = match output {
        PlanFormat::Table => plan::table(plan),
        PlanFormat::Json => json(plan)?,
        PlanFormat::Markdown => plan::markdown(plan),
        PlanFormat::Mermaid => plan::mermaid(plan),
    };
    print(text.as_bytes())
}

/// Prints warnings of checks, for runs whose plan is not printed.
pub(crate) fn warnings(plan: &Plan) {
    for check in plan.prechecks.iter().filter(|check| mooring_repair::checks::warns(check)) {
        write(&format!("warning: {}: {}\n", check.name, printable(&check.detail())));
    }
}

pub(crate) fn report(report: &RunReport, output: RunFormat) -> Result<(), Failure> {
    let text = match output {
        RunFormat::Table => report.table(),
        RunFormat::Json => json(report)?,
        RunFormat::Markdown => report.markdown(),
    };
    print(text.as_bytes())
}

/// Prints the last run of the journal, and earlier ones.
pub(crate) fn status(status: &JournalStatus, all: bool, output: RunFormat) -> Result<(), Failure> {
    let found = RunReport::of(&status.records).map_err(|error| Failure::io(error.to_string()))?;
    let earlier = if all { summaries(&status.records) } else { Vec::new() };
    if output == RunFormat::Json {
        let value = serde_json::json!({
            "schema": "mooring.repair.status/v1", "journal": status.place,
            "run": found, "plan": newest_plan(&status.records), "runs": earlier, "lock": status.lock,
        });
        return print(json(&value)?.as_bytes());
    }
    let Some(found) = found else {
        return print(format!("No runs found in {}.\n", status.place).as_bytes());
    };
    let mut lines: Vec<(&str, String)> = Vec::new();
    lines.extend(status.lock.iter().map(|lock| ("lock", format_lock(lock))));
    for run in earlier {
        let end = run.finish.and_then(|finish| serde_json::to_value(finish).ok());
        let end = end.as_ref().and_then(|end| end.as_str()).unwrap_or("unfinished");
        lines.push(("run", format!("{} started {}: {end}", run.run, run.started)));
    }
    let (mut text, row): (String, fn(&str, &str) -> String) = match output {
        RunFormat::Markdown => {
            (found.markdown(), |word, line| format!("\n- {word}: {}\n", markdown(line)))
        }
        _ => (found.table(), |word, line| format!("{word:<10} {}\n", printable(line))),
    };
    text.extend(lines.iter().map(|(word, line)| row(word, line)));
    print(text.as_bytes())
}

/// Returns the latest plan of the journal: evidence, not an approval.
fn newest_plan(records: &[Record]) -> Option<&Document> {
    records.iter().rev().find_map(|record| match &record.entry {
        Entry::RunStarted(session) | Entry::Resumed(session) => Some(&*session.plan),
        _ => None,
    })
}

impl TryFrom<PlanFormat> for RunFormat {
    type Error = Failure;

    fn try_from(output: PlanFormat) -> Result<Self, Failure> {
        match output {
            PlanFormat::Table => Ok(Self::Table),
            PlanFormat::Json => Ok(Self::Json),
            PlanFormat::Markdown => Ok(Self::Markdown),
            PlanFormat::Mermaid => Err(Failure::usage(
                "-o mermaid is for plans only\nhint: use `mooring repair plan` or `apply --dry-run`"
                    .to_owned(),
            )),
        }
    }
}
