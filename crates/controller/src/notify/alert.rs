//! Conditions that operators are notified of.

use mooring_codes::{Os, lookup};
use mooring_diagnosis::fleet::ImagePattern;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::failing::pools::FailingPool;
use crate::hash::hash;
use crate::record::FailureRecord;

/// Values of `events` in the configuration of a hook.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum AlertEvent {
    /// An image fails while others do not.
    Finding,
    FindingOver,
    /// The last nodes of a pool all failed; also sent when a node joins again.
    PoolFailing,
    /// A replica of the controller became the leader.
    Controller,
    /// A repair or a removal started or ended. The command that runs it sends this, not the controller.
    Run,
}

impl AlertEvent {
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Finding => "finding",
            Self::FindingOver => "finding-over",
            Self::PoolFailing => "pool-failing",
            Self::Controller => "controller",
            Self::Run => "run",
        }
    }

    /// Returns the event of the end of an alert.
    #[must_use]
    pub const fn at_end(self) -> Self {
        match self {
            Self::Finding => Self::FindingOver,
            other => other,
        }
    }
}

/// Names that identify an alert. They are stored; the rest comes from the live state.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct AlertSubject {
    pub pool: Option<String>,
    pub image: Option<String>,
    pub cause: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Alert {
    pub event: AlertEvent,
    pub subject: AlertSubject,
    pub message: String,
    pub failed: Option<u32>,
    pub nodes: Option<u32>,
    /// Failed and all nodes with other images.
    pub others: Option<(u32, u32)>,
    /// Last failure that the alert is about.
    pub example: Option<Box<FailureRecord>>,
}

impl Alert {
    pub fn of_finding(finding: &ImagePattern, example: Option<FailureRecord>) -> Self {
        let pool = example.as_ref().map(|entry| entry.pool.clone());
        Self {
            event: AlertEvent::Finding,
            subject: AlertSubject {
                pool: pool.filter(|pool| !pool.is_empty()),
                image: Some(finding.image.clone()),
                cause: Some(finding.cause.clone()),
            },
            message: finding.to_string(),
            failed: Some(finding.here.failed),
            nodes: Some(finding.here.nodes),
            others: Some((finding.elsewhere.failed, finding.elsewhere.nodes)),
            example: example.map(Box::new),
        }
    }

    pub fn of_pool(pool: FailingPool) -> Self {
        let FailingPool { pool, failed, last } = pool;
        let cause = last.cause.clone();
        Self {
            event: AlertEvent::PoolFailing,
            message: format!(
                "Pool {pool}: the last {failed} nodes failed, most recently with {cause}."
            ),
            subject: AlertSubject { pool: Some(pool), image: None, cause: Some(cause) },
            failed: Some(failed),
            nodes: None,
            others: None,
            example: Some(Box::new(last)),
        }
    }

    pub fn of_leader(instance: &str) -> Self {
        Self {
            event: AlertEvent::Controller,
            subject: AlertSubject::default(),
            message: format!("Controller {instance} is now the leader."),
            failed: None,
            nodes: None,
            others: None,
            example: None,
        }
    }

    /// Returns an id that is the same for the same subject. The cause of a failing pool may change.
    pub fn id(&self) -> String {
        let AlertSubject { pool, image, cause } = &self.subject;
        let text = |part: &Option<String>| part.clone().unwrap_or_default();
        let parts = match self.event {
            AlertEvent::Finding | AlertEvent::FindingOver => [text(image), text(cause)],
            AlertEvent::PoolFailing => [text(pool), String::new()],
            AlertEvent::Controller | AlertEvent::Run => [self.message.clone(), String::new()],
        };
        format!("{:016x}", hash(&[self.event.as_str(), &parts[0], &parts[1]]))
    }

    /// Returns reported and effective code, null if unknown.
    pub(super) fn codes(&self) -> (Value, Value) {
        let Some(entry) = &self.example else { return (Value::Null, Value::Null) };
        let code = |code: Option<i32>, name: Option<&str>| {
            code.map_or(Value::Null, |code| {
                let known = lookup(Os::Linux, code, None).first().map(|row| row.name);
                json!({"code": code, "name": name.or(known)})
            })
        };
        let reported = code(entry.code, entry.name.as_deref());
        let effective = entry.effective_code.map(|effective| code(Some(effective), None));
        (reported.clone(), effective.unwrap_or(reported))
    }
}

/// Returns the text for the end of an alert, from its stored names.
pub fn end_message(event: AlertEvent, subject: &AlertSubject) -> String {
    let text = |part: &Option<String>| part.clone().unwrap_or_default();
    match event {
        AlertEvent::Finding | AlertEvent::FindingOver => {
            let (image, cause) = (text(&subject.image), text(&subject.cause));
            format!("Image {image} no longer fails with {cause}.")
        }
        AlertEvent::PoolFailing => format!("Pool {} no longer fails.", text(&subject.pool)),
        AlertEvent::Controller | AlertEvent::Run => String::new(),
    }
}
