//! Diagnoses as a document, schema `mooring.explain/v1`.

use mooring_codes::Os;
use mooring_diagnosis::{
    BootstrapOutcome, CausePage, Confidence, Diagnosis, Effective, Reported, Rung, Stage,
};
use mooring_nodes::{FleetRow, Listed};
use mooring_workflow::published::Next;
use serde::Serialize;

use super::codes::CauseEntry;
use super::occurrences::Occurrences;
use super::{Explanation, pages};

pub(super) const SCHEMA: &str = "mooring.explain/v1";

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ExplainContent<'a> {
    diagnoses: Vec<DiagnosisEntry<'a>>,
    causes: Vec<CauseEntry<'a>>,
    /// Failures of the cause in the cluster, by image; null without one.
    rows: Option<&'a Listed<FleetRow>>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct DiagnosisEntry<'a> {
    os: Option<&'static str>,
    reported: ReportedEntry<'a>,
    effective: EffectiveEntry<'a>,
    cause: &'a str,
    confidence: &'static str,
    /// `rule`, `code` or `sentence`.
    rung: &'static str,
    component: Option<&'static str>,
    owner: &'static str,
    stage: &'static str,
    retry: Option<&'static str>,
    summary: &'a str,
    evidence: Vec<EvidenceEntry<'a>>,
    actions: &'a [String],
    next: Vec<Next>,
    image_version: Option<&'a str>,
    extension: Option<&'a str>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct ReportedEntry<'a> {
    code: Option<i32>,
    name: Option<&'a str>,
    found_by: Option<&'static str>,
}

#[derive(Debug, Serialize)]
struct EffectiveEntry<'a> {
    code: Option<i32>,
    name: Option<&'a str>,
}

#[derive(Debug, Serialize)]
struct EvidenceEntry<'a> {
    line: &'a str,
    /// File that was read; null for stdin and arguments.
    file: Option<&'a str>,
    /// Part of the text: `stdout, line 3`.
    source: &'a str,
}

pub(super) fn content(explanation: &Explanation) -> ExplainContent<'_> {
    let file = explanation.file.as_deref();
    ExplainContent {
        diagnoses: explanation.diagnoses.iter().map(|one| entry(one, file)).collect(),
        causes: explanation.causes.iter().map(CauseEntry::from).collect(),
        rows: explanation.occurrences.as_ref().map(Occurrences::rows),
    }
}

fn entry<'a>(diagnosis: &'a Diagnosis, file: Option<&'a str>) -> DiagnosisEntry<'a> {
    let Reported { code, name, found_by } = &diagnosis.reported;
    DiagnosisEntry {
        os: diagnosis.os.map(Os::as_str),
        reported: ReportedEntry {
            code: *code,
            name: name.as_deref(),
            found_by: found_by.map(mooring_diagnosis::FoundBy::as_str),
        },
        effective: EffectiveEntry {
            code: diagnosis.effective.code,
            name: diagnosis.effective.name.as_deref(),
        },
        cause: &diagnosis.reason,
        confidence: Confidence::as_str(diagnosis.confidence),
        rung: diagnosis.rung.as_str(),
        component: diagnosis.component,
        owner: diagnosis.owner.as_str(),
        stage: Stage::as_str(diagnosis.stage),
        retry: pages::retry(&diagnosis.reason).map(mooring_codes::Transient::as_str),
        summary: &diagnosis.summary,
        evidence: diagnosis
            .evidence
            .iter()
            .map(|one| EvidenceEntry { line: &one.line, file, source: &one.place })
            .collect(),
        actions: &diagnosis.actions,
        next: pages::next(diagnosis).into_iter().collect(),
        image_version: diagnosis.image_version.as_deref(),
        extension: diagnosis.extension.as_deref(),
    }
}

/// Returns the diagnosis of a cause that was asked for by name.
pub(super) fn diagnose_cause(page: &CausePage) -> Diagnosis {
    Diagnosis {
        os: None,
        outcome: BootstrapOutcome::NoCode,
        reported: Reported::default(),
        effective: Effective::default(),
        confidence: Confidence::Low,
        rung: Rung::Rule,
        component: None,
        situation: None,
        rule: None,
        reason: page.reason.to_owned(),
        owner: page.owner,
        stage: page.stage,
        summary: page.summary.to_owned(),
        evidence: Vec::new(),
        actions: page.actions.iter().map(|action| (*action).to_owned()).collect(),
        image_version: None,
        extension: None,
    }
}
