//! The result: the reported code, the cause and the next steps.

use mooring_codes::{ExitCode, Os, Owner, Status};

use crate::cause::{CatalogRow, Cause, Confidence, Stage, find_row};
use crate::decode::{BootstrapOutcome, FoundBy, Situation};

/// What a diagnosis rests on, the most specific first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Rung {
    /// A rule, a wording or an exit code.
    Rule,
    /// An error code of Azure, listed in the catalog or not.
    Code,
    /// A line that says of a component that it failed; no rule fits.
    Sentence,
}

impl Rung {
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Rule => "rule",
            Self::Code => "code",
            Self::Sentence => "sentence",
        }
    }
}

impl Diagnosis {
    /// Returns a diagnosis of this cause, without facts from a text.
    pub(crate) fn from_cause(cause: &Cause) -> Self {
        Self {
            reason: cause.reason.to_owned(),
            owner: cause.owner,
            stage: cause.stage,
            summary: cause.summary.to_owned(),
            actions: cause.actions.iter().map(|action| (*action).to_owned()).collect(),
            ..unknown()
        }
    }

    /// Returns true if an error code of the catalog is the cause.
    pub(crate) fn is_listed(&self, catalog: &'static [CatalogRow]) -> bool {
        self.rung == Rung::Code && find_row(catalog, &self.reason).is_some()
    }
}

/// The code in the text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Reported {
    pub code: Option<i32>,
    /// Name of the code on this OS and image; an ARM error code if nothing else is known.
    pub name: Option<String>,
    pub found_by: Option<FoundBy>,
}

/// The code that matches the cause.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Effective {
    pub code: Option<i32>,
    pub name: Option<String>,
}

/// Result of one bootstrap, with the cause of a failure.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnosis {
    pub os: Option<Os>,
    pub outcome: BootstrapOutcome,
    pub reported: Reported,
    pub effective: Effective,
    pub confidence: Confidence,
    pub rung: Rung,
    /// What failed, if only a line says so.
    pub component: Option<&'static str>,
    /// Kind of failure without a code.
    pub situation: Option<Situation>,
    /// Matching rule or wording; none if the table of exit codes is the source.
    pub rule: Option<&'static str>,
    /// Stable `PascalCase` name for labels and conditions.
    pub reason: String,
    pub owner: Owner,
    pub stage: Stage,
    pub summary: String,
    pub evidence: Vec<Evidence>,
    /// Next steps, in this order.
    pub actions: Vec<String>,
    pub image_version: Option<String>,
    pub extension: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Evidence {
    /// At most 200 characters, without control characters and secrets.
    pub line: String,
    /// Part of the message and line in it: `stdout, line 3`.
    pub place: String,
}

/// Returns the diagnosis of an unknown code.
pub(crate) fn unknown() -> Diagnosis {
    Diagnosis {
        os: None,
        outcome: BootstrapOutcome::Failed,
        reported: Reported::default(),
        effective: Effective::default(),
        confidence: Confidence::Low,
        rung: Rung::Rule,
        component: None,
        situation: None,
        rule: None,
        reason: "UnknownCode".to_owned(),
        owner: Owner::Operator,
        stage: Stage::Bootstrap,
        summary: "The AKS bootstrap scripts do not define this code.".to_owned(),
        evidence: Vec::new(),
        actions: vec![
            "Check the source of the number, and read /var/log/azure/cluster-provision.log on the node."
                .to_owned(),
        ],
        image_version: None,
        extension: None,
    }
}

/// Returns the stable name of an exit code. The names of raw codes are phrases, some of which do not convert well.
pub(crate) fn reason(row: &ExitCode) -> String {
    match (row.status, row.number) {
        (Status::Raw, 2) => "RetriesOrCloudInitFailed".to_owned(),
        (Status::Raw, 125) => "CommandNotStarted".to_owned(),
        (Status::Raw, 255) => "NegativeExit".to_owned(),
        _ => pascal(row.name),
    }
}

/// Converts `ERR_OUTBOUND_CONN_FAIL` to `OutboundConnFail`; ignores text after a slash or parenthesis.
fn pascal(name: &str) -> String {
    let name = name.strip_prefix("ERR_").unwrap_or(name);
    let name = name.strip_prefix("WINDOWS_CSE_ERROR_").unwrap_or(name);
    let name = name.split(['/', '(']).next().unwrap_or(name);
    let mut reason = String::new();
    for word in name.split(|c: char| !c.is_ascii_alphanumeric()) {
        let mut letters = word.chars();
        reason.extend(letters.next().map(|first| first.to_ascii_uppercase()));
        reason.extend(letters.map(|letter| letter.to_ascii_lowercase()));
    }
    reason
}

#[cfg(test)]
mod tests {
    use mooring_codes::{Os, Status, all};

    use super::{pascal, reason};

    #[test]
    fn raw_codes_with_several_meanings_have_their_own_names() {
        let name = |number: i32| {
            let is_it = |row: &&mooring_codes::ExitCode| {
                row.os == Os::Linux && row.status == Status::Raw && row.number == number
            };
            all().find(is_it).map(reason)
        };
        assert_eq!(name(2).as_deref(), Some("RetriesOrCloudInitFailed"));
        assert_eq!(name(125).as_deref(), Some("CommandNotStarted"));
        assert_eq!(name(255).as_deref(), Some("NegativeExit"));
    }

    #[test]
    fn names_of_codes_are_converted_to_pascal_case() {
        for (name, expected) in [
            ("ERR_OUTBOUND_CONN_FAIL", "OutboundConnFail"),
            ("WINDOWS_CSE_ERROR_CHECK_API", "CheckApi"),
            ("killed by a signal (SIGKILL)", "KilledByASignal"),
            ("timeout/124", "Timeout"),
        ] {
            assert_eq!(pascal(name), expected);
        }
    }
}
