//! Exit codes and causes as a document, schema `mooring.codes/v1`.

use mooring_codes::ExitCode;
use mooring_diagnosis::CausePage;
use mooring_workflow::published::PublishedDocument;
use serde::Serialize;

use crate::output::published;

const SCHEMA: &str = "mooring.codes/v1";

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct CodesContent<'a> {
    /// The search; null for a list.
    query: Option<String>,
    codes: Vec<CodeEntry>,
    causes: Vec<CauseEntry<'a>>,
}

#[derive(Debug, Serialize)]
struct CodeEntry {
    os: &'static str,
    code: i32,
    name: &'static str,
    status: &'static str,
    reach: &'static str,
    category: &'static str,
    owner: &'static str,
    transient: &'static str,
    meaning: &'static str,
    cause: &'static str,
    action: &'static str,
}

/// The page of a cause.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct CauseEntry<'a> {
    cause: &'static str,
    stage: &'static str,
    owner: &'static str,
    retry: &'static str,
    summary: &'static str,
    symptom: &'a str,
    known_by: &'a [Vec<String>],
    actions: &'a [&'static str],
    codes: Vec<CodeName>,
}

#[derive(Debug, Serialize)]
struct CodeName {
    os: &'static str,
    code: i32,
    name: &'static str,
}

impl<'a> From<&'a CausePage> for CauseEntry<'a> {
    fn from(page: &'a CausePage) -> Self {
        let name = |code: &&ExitCode| CodeName {
            os: code.os.as_str(),
            code: code.number,
            name: code.name,
        };
        Self {
            cause: page.reason,
            stage: page.stage.as_str(),
            owner: page.owner.as_str(),
            retry: page.retry.as_str(),
            summary: page.summary,
            symptom: &page.symptom,
            known_by: &page.known_by,
            actions: &page.actions,
            codes: page.codes.iter().map(name).collect(),
        }
    }
}

pub(super) fn document<'a>(
    query: Option<String>,
    codes: &[&'static ExitCode],
    causes: &'a [CausePage],
) -> PublishedDocument<'static, CodesContent<'a>> {
    let entry = |code: &&'static ExitCode| CodeEntry {
        os: code.os.as_str(),
        code: code.number,
        name: code.name,
        status: code.status.as_str(),
        reach: code.reach.as_str(),
        category: code.category.as_str(),
        owner: code.owner.as_str(),
        transient: code.transient.as_str(),
        meaning: code.meaning,
        cause: code.cause,
        action: code.action,
    };
    let content = CodesContent {
        query,
        codes: codes.iter().map(entry).collect(),
        causes: causes.iter().map(CauseEntry::from).collect(),
    };
    published::without_cluster(SCHEMA, content)
}
