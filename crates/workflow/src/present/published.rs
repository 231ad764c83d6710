//! Parts that the JSON documents of all commands have in common.
//!
//! Unknown is null and never left out; lists are never null.

use std::fmt::Write as _;

use jiff::{Timestamp, Unit};
use mooring_redact::is_hidden;
use serde::Serialize;

use crate::model::check::{CheckResult, Outcome};

/// A document: schema, time, cluster and sources, then its content.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct PublishedDocument<'a, T> {
    schema: &'static str,
    generated_at: Timestamp,
    /// None if no cluster was read.
    cluster: Option<&'a ClusterIdentity>,
    sources: &'a [Source],
    #[serde(flatten)]
    content: T,
}

impl<'a, T: Serialize> PublishedDocument<'a, T> {
    pub fn new(
        schema: &'static str,
        now: Timestamp,
        cluster: impl Into<Option<&'a ClusterIdentity>>,
        sources: &'a [Source],
        content: T,
    ) -> Self {
        let generated_at = now.round(Unit::Millisecond).unwrap_or(now);
        Self { schema, generated_at, cluster: cluster.into(), sources, content }
    }
}

/// Returns a document as text, with hidden characters as escapes.
pub fn to_json(value: &impl Serialize) -> serde_json::Result<String> {
    Ok(escape_hidden(&serde_json::to_string_pretty(value)?) + "\n")
}

pub fn escape_hidden(json: &str) -> String {
    let mut safe = String::with_capacity(json.len());
    for character in json.chars() {
        if character != '\n' && is_hidden(character) {
            let mut units = [0; 2];
            for unit in character.encode_utf16(&mut units) {
                let _ = write!(safe, "\\u{unit:04x}");
            }
        } else {
            safe.push(character);
        }
    }
    safe
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct ClusterIdentity {
    pub name: Option<String>,
    /// Resource id in Azure.
    pub id: Option<String>,
    /// Context of the kubeconfig; none with credentials from Azure or of a pod.
    pub context: Option<String>,
    /// URL of the API server.
    pub server: Option<String>,
    /// Uid of the namespace `kube-system`.
    pub uid: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum SourceName {
    Cluster,
    /// The failure record and the counts.
    Record,
    Azure,
    Controller,
    /// Listed only where it is not installed.
    Karpenter,
}

impl SourceName {
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Cluster => "cluster",
            Self::Record => "record",
            Self::Azure => "Azure",
            Self::Controller => "controller",
            Self::Karpenter => "Karpenter",
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum SourceState {
    Read,
    /// Exists, and was written long ago.
    Stale,
    /// Was read, and does not exist.
    Absent,
    NotAsked,
    Failed,
}

/// A service that was read for a document.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Source {
    pub name: SourceName,
    pub state: SourceState,
    /// Time of the last read that succeeded.
    pub at: Option<Timestamp>,
    /// Duration of all reads.
    pub seconds: Option<f64>,
    /// The first error.
    pub error: Option<String>,
}

impl Source {
    pub fn new(name: SourceName) -> Self {
        Self { name, state: SourceState::NotAsked, at: None, seconds: None, error: None }
    }

    /// Returns a source that was asked and could not be read.
    pub fn failed(name: SourceName, why: impl Into<String>) -> Self {
        Self { state: SourceState::Failed, error: Some(why.into()), ..Self::new(name) }
    }

    /// Adds a read that took from `began` to `ended`.
    pub fn add(&mut self, began: Timestamp, ended: Timestamp, error: Option<String>) {
        let seconds = ended.duration_since(began).as_secs_f64().max(0.0);
        let total = self.seconds.unwrap_or_default() + seconds;
        self.seconds = Some((total * 1000.0).round() / 1000.0);
        match error {
            None => {
                self.at = Some(ended);
                if self.state == SourceState::NotAsked {
                    self.state = SourceState::Read;
                }
            }
            Some(error) => {
                self.state = SourceState::Failed;
                self.error.get_or_insert(error);
            }
        }
    }
}

/// Returns true if a source that was asked could not be read.
pub fn is_partial(sources: &[Source]) -> bool {
    sources.iter().any(|source| source.state == SourceState::Failed)
}

/// A line that proves something.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Evidence {
    pub line: String,
    /// The file that has the line; none if a service returned it.
    pub file: Option<String>,
    pub source: Option<SourceName>,
}

impl Evidence {
    pub fn new(line: &str, source: Option<SourceName>) -> Self {
        Self { line: line.to_owned(), file: None, source }
    }

    pub fn list(lines: &[String], source: Option<SourceName>) -> Vec<Self> {
        lines.iter().map(|line| Self::new(line, source)).collect()
    }
}

/// A command to run next.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Next {
    pub command: String,
    pub purpose: String,
}

impl Next {
    pub fn new(command: impl Into<String>, purpose: impl Into<String>) -> Self {
        Self { command: command.into(), purpose: purpose.into() }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum CheckState {
    Failed,
    /// Failed, and does not block a run.
    Warning,
    Unknown,
    Ok,
}

/// A check of a plan.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct PublishedCheck {
    pub name: String,
    pub state: CheckState,
    pub evidence: Vec<Evidence>,
    /// The operator's comment of an override.
    pub overridden: Option<String>,
}

impl PublishedCheck {
    /// `blocks` is true if a failure prevents the start of a run.
    pub fn new(check: &CheckResult, blocks: bool, source: Option<SourceName>) -> Self {
        let state = match check.outcome {
            Outcome::Pass => CheckState::Ok,
            Outcome::Fail if blocks => CheckState::Failed,
            Outcome::Fail => CheckState::Warning,
            Outcome::Unknown => CheckState::Unknown,
        };
        Self {
            name: check.name.clone(),
            state,
            evidence: Evidence::list(&check.evidence, source),
            overridden: check.overridden.clone(),
        }
    }

    pub fn detail(&self) -> String {
        let lines: Vec<&str> = self.evidence.iter().map(|one| one.line.as_str()).collect();
        lines.join("; ")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn source_sums_durations_and_keeps_its_first_error() {
        let at = |second: i64| Timestamp::from_second(second).unwrap();
        let mut source = Source::new(SourceName::Azure);
        assert_eq!(
            serde_json::to_value(&source).unwrap(),
            serde_json::json!({"name": "azure", "state": "not-asked", "at": null, "seconds": null, "error": null})
        );
        source.add(at(0), at(2), None);
        assert_eq!((source.state, source.at), (SourceState::Read, Some(at(2))));
        source.add(at(2), at(3), Some("HTTP 503".to_owned()));
        source.add(at(3), at(4), None);
        source.add(at(4), at(4), Some("HTTP 500".to_owned()));
        assert_eq!((source.state, source.at), (SourceState::Failed, Some(at(4))));
        assert_eq!((source.seconds, source.error.as_deref()), (Some(4.0), Some("HTTP 503")));
    }

    #[test]
    fn check_that_does_not_block_is_a_warning() {
        let of = |outcome, blocks| {
            PublishedCheck::new(&CheckResult::new("pdb", outcome, "e"), blocks, None).state
        };
        assert_eq!(of(Outcome::Pass, true), CheckState::Ok);
        assert_eq!(of(Outcome::Fail, true), CheckState::Failed);
        assert_eq!(of(Outcome::Fail, false), CheckState::Warning);
        assert_eq!(of(Outcome::Unknown, true), CheckState::Unknown);
    }
}
