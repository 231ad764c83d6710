//! Runs the checks and shows their results, as a table and as JSON.

use mooring_codes::{Os, lookup_named};
use mooring_contract::json::{Escape, JsonLayout, Writer};

use crate::cli::{OutputFormat, PreflightFlags};
use crate::format::write_member;
use crate::node::paths::{Layout, PreflightStage};
use crate::preflight::{
    CHECKS, ConfigState, PreflightFacts, PreflightFinding, PreflightVerdict, Result, first_fatal,
    network, run,
};
use crate::world::{Stream, World};

pub(crate) fn preflight(
    world: &mut dyn World,
    layout: &Layout,
    version: &'static str,
    flags: &PreflightFlags,
) -> u8 {
    let config = ConfigState::read(world, layout, flags.config.as_deref());
    let facts = PreflightFacts {
        stage: flags.stage,
        layout,
        version,
        config,
        imds: flags.network.as_ref(),
    };
    let mut results = run(world, &facts, CHECKS);
    if flags.network.is_some() {
        results.extend(network::run(world, &facts));
    }
    let exit_code = exit_code(flags.stage, &results);
    let text = match flags.format {
        OutputFormat::Table => table(flags.stage, &results),
        OutputFormat::Json => json(flags.stage, exit_code, &results),
    };
    world.print(Stream::Out, text.as_bytes());
    exit_code
}

fn exit_code(stage: PreflightStage, results: &[Result]) -> u8 {
    match (first_fatal(results), stage) {
        (None, _) => 0,
        (Some(_), PreflightStage::Image) => 1,
        (Some((check, _)), PreflightStage::Node) => {
            check.code.and_then(|code| u8::try_from(code).ok()).unwrap_or(1)
        }
    }
}

/// One line a check, and under those that are not well, what was seen and what to do.
fn table(stage: PreflightStage, results: &[Result]) -> String {
    let mut lines = Vec::new();
    for (check, finding) in results {
        let code = match (finding.verdict, check.code) {
            (PreflightVerdict::Fatal, Some(code)) => code.to_string(),
            _ => String::new(),
        };
        let verdict = finding.verdict.as_str();
        lines.push(format!("{verdict:<8} {:<13} {code:<4} {}", check.name, finding.summary));
        if is_bad(finding) {
            let who = check.audience(stage);
            lines.extend(finding.evidence.iter().map(|line| format!("{:27} · {line}", "")));
            lines.push(format!("{:27} → {who}: {}", "", finding.action));
        }
    }
    lines.join("\n") + "\n"
}

fn is_bad(finding: &PreflightFinding) -> bool {
    matches!(finding.verdict, PreflightVerdict::Fatal | PreflightVerdict::Warning)
}

/// A stable document, `mooring.preflight/v1`.
fn json(stage: PreflightStage, exit_code: u8, results: &[Result]) -> String {
    let mut json = Writer::new(JsonLayout::Indented(2), Escape::Minimal);
    json.open_object();
    write_member(&mut json, "schema", "mooring.preflight/v1");
    write_member(&mut json, "stage", stage.as_str());
    json.name("exitCode");
    json.integer(i64::from(exit_code));
    json.name("findings");
    json.open_array();
    for (check, finding) in results {
        json.open_object();
        write_member(&mut json, "check", check.name);
        write_member(&mut json, "about", check.about);
        write_member(&mut json, "verdict", finding.verdict.as_str());
        if let Some(code) = check.code {
            json.name("code");
            json.integer(i64::from(code));
            if let Some(name) = code_name(code) {
                write_member(&mut json, "name", name);
            }
        }
        write_member(&mut json, "audience", check.audience(stage));
        write_member(&mut json, "summary", &finding.summary);
        json.name("evidence");
        json.open_array();
        for line in &finding.evidence {
            json.string(line);
        }
        json.close_array();
        write_member(&mut json, "action", finding.action);
        json.close_object();
    }
    json.close_array();
    json.close_object();
    json.finish() + "\n"
}

/// The name that a report with this code begins its `Error` with.
pub(crate) fn code_name(code: i32) -> Option<&'static str> {
    let name = lookup_named(Os::Linux, code, "", None).first()?.name;
    name.starts_with("ERR_").then_some(name)
}

/// Everything that was found on a node, as the report of a failed bootstrap carries it.
pub(crate) fn report(results: &[Result]) -> String {
    let mut lines = Vec::new();
    for (check, finding) in results.iter().filter(|(_, finding)| is_bad(finding)) {
        let PreflightFinding { verdict, summary, evidence, action } = finding;
        lines.push(format!("preflight {}: {}: {summary}", verdict.as_str(), check.name));
        lines.extend(evidence.iter().map(|line| format!("  {line}")));
        lines.push(format!("  {}: {action}", check.audience(PreflightStage::Node)));
    }
    lines.join("\n") + "\n"
}
