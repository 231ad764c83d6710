//! The answer: what was reported, what it means, and what to do first.

use mooring_codes::{Date, ExitCode, Os, Owner, Status};

use crate::cause::confidence::Confidence;
use crate::cause::entry::Cause;
use crate::cause::stage::Stage;
use crate::decode::decoded::{FoundBy, Outcome, Situation};

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Hints {
    /// The node's operating system, for texts that do not show it.
    pub os: Option<Os>,
    /// The day of the node image; it counts more than an image named in the text.
    pub image_date: Option<Date>,
}

impl Diagnosis {
    /// A diagnosis of this cause, without what a text adds to it.
    pub(crate) fn of_cause(cause: &Cause) -> Self {
        Self {
            reason: cause.reason.to_owned(),
            owner: cause.owner,
            stage: cause.stage,
            summary: cause.summary.to_owned(),
            actions: cause.actions.iter().map(|action| (*action).to_owned()).collect(),
            ..unknown()
        }
    }
}

/// The code as the text has it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Reported {
    /// None if no code can be known.
    pub code: Option<i32>,
    /// What the code is called on this system and image; an ARM code where nothing else is known.
    pub name: Option<String>,
    pub found_by: Option<FoundBy>,
}

/// The code that fits the cause.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Effective {
    /// None if none can be known.
    pub code: Option<i32>,
    pub name: Option<String>,
}

/// Why one bootstrap failed, or that it succeeded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnosis {
    /// The operating system; none where nothing shows it.
    pub os: Option<Os>,
    pub outcome: Outcome,
    /// The code as the text has it; always kept.
    pub reported: Reported,
    /// The code that fits the cause.
    pub effective: Effective,
    pub confidence: Confidence,
    /// What stands in the place of a code, where there is none.
    pub situation: Option<Situation>,
    /// The rule or wording that fits; none where the catalogue answers.
    pub rule: Option<&'static str>,
    /// The stable word in Pascal case for labels and conditions.
    pub reason: String,
    pub owner: Owner,
    pub stage: Stage,
    /// What has happened, for a person.
    pub summary: String,
    /// The lines that show it.
    pub evidence: Vec<Evidence>,
    /// What to do, in this order.
    pub actions: Vec<String>,
    /// The node image, if the text names it.
    pub image_version: Option<String>,
    pub extension: Option<String>,
    /// The instance of the scale set.
    pub instance: Option<i64>,
}

/// A quoted line and where it stood.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Evidence {
    /// At most 200 characters, without control characters and secrets.
    pub line: String,
    /// Which part of the message, and which of its lines: `stdout, line 3`.
    pub place: String,
}

/// The answer where not even the catalogue has one.
pub(crate) fn unknown() -> Diagnosis {
    Diagnosis {
        os: None,
        outcome: Outcome::Failed,
        reported: Reported::default(),
        effective: Effective::default(),
        confidence: Confidence::Low,
        situation: None,
        rule: None,
        reason: "UnknownCode".to_owned(),
        owner: Owner::Operator,
        stage: Stage::Bootstrap,
        summary: "The code is none that AKS's scripts are known to use.".to_owned(),
        evidence: Vec::new(),
        actions: vec![
            "Check where the number was read from, and read /var/log/azure/cluster-provision.log \
                on the node."
                .to_owned(),
        ],
        image_version: None,
        extension: None,
        instance: None,
    }
}

/// A row's stable word. Raw codes have sentences for names, and some of those make no good word.
pub(crate) fn reason(row: &ExitCode) -> String {
    match (row.status, row.number) {
        (Status::Raw, 2) => "RetriesOrCloudInitFailed".to_owned(),
        (Status::Raw, 125) => "CommandNotStarted".to_owned(),
        (Status::Raw, 255) => "NegativeExit".to_owned(),
        _ => pascal(row.name),
    }
}

/// `ERR_OUTBOUND_CONN_FAIL` → `OutboundConnFail`; of a raw code's words, those before a slash.
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
