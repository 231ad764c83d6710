//! Output of `mooring repair`, and the schemas of its documents.
#![allow(clippy::doc_markdown, reason = "these comments are the help text, which is not Markdown")]

use clap::Args;

use crate::output::failure::CommandFailure;
use crate::output::{AnswerFormat, PlanFormat};

pub(crate) const DETECTION: &str = "mooring.repair.detection/v1";
pub(crate) const PLAN: &str = "mooring.repair.plan/v1";
pub(crate) const RUN: &str = "mooring.repair.run/v1";

const DETECT_FORMATS: [&str; 4] = [
    "Human-readable verdict and signs",
    "Every pool, with the names of the checks",
    "JSON, schema mooring.repair.detection/v1",
    "Pools that are wedged or suspected, one per line",
];
const RUN_FORMATS: [&str; 4] = [
    "Human-readable table",
    "Table with every column, and every step",
    "JSON, schema mooring.repair.run/v1",
    "Pools of the runs, one per line",
];
const PLAN_FORMATS: [&str; 4] = [
    "Human-readable steps and checks",
    "Every step, check, body, and the whole hash",
    "JSON, schema mooring.repair.plan/v1",
    "Pool of the plan",
];

#[derive(Debug, Clone, Args)]
pub(crate) struct DetectOutput {
    /// Output format
    #[arg(short, long, value_parser = AnswerFormat::described(DETECT_FORMATS), default_value = "table")]
    pub(crate) output: AnswerFormat,
    /// Exit with 0 regardless of the verdict
    #[arg(long)]
    pub(crate) exit_zero: bool,
}

#[derive(Debug, Clone, Args)]
pub(crate) struct PlanOutput {
    /// Output format
    #[arg(short, long, value_parser = PlanFormat::described(PLAN_FORMATS), default_value = "table")]
    pub(crate) output: PlanFormat,
}

#[derive(Debug, Clone, Args)]
pub(crate) struct ApplyOutput {
    /// Output format; `mermaid` with --dry-run only
    #[arg(short, long, value_parser = PlanFormat::described(PLAN_FORMATS), default_value = "table")]
    output: PlanFormat,
}

impl ApplyOutput {
    /// Returns the output of a dry run.
    pub(crate) fn plan(&self) -> PlanOutput {
        PlanOutput { output: self.output }
    }

    /// Returns the output of a run; plans alone can be diagrams.
    pub(crate) fn run(&self) -> Result<RunOutput, CommandFailure> {
        let PlanFormat::Answer(output) = self.output else {
            return Err(CommandFailure::usage(
                "-o mermaid is for plans only\nhint: use `mooring repair plan` or `apply --dry-run`"
                    .to_owned(),
            ));
        };
        Ok(RunOutput { output })
    }
}

#[derive(Debug, Clone, Args)]
pub(crate) struct RunOutput {
    /// Output format
    #[arg(short, long, value_parser = AnswerFormat::described(RUN_FORMATS), default_value = "table")]
    pub(crate) output: AnswerFormat,
}

#[derive(Debug, Clone, Args)]
pub(crate) struct StatusOutput {
    /// Output format
    #[arg(short, long, value_parser = AnswerFormat::described(RUN_FORMATS), default_value = "table")]
    pub(crate) output: AnswerFormat,
}
