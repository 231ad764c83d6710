use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::hash::hash;
use crate::verdict::registration::RegistrationCause;

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct FailureRecord {
    /// Derived from NodeClaim and verdict; the same failure has the same id.
    pub id: String,
    /// When the node failed.
    pub at: Timestamp,
    /// When it became known, if later.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reported_at: Option<Timestamp>,
    pub uid: String,
    pub node_claim: String,
    /// Empty for a standalone NodeClaim.
    #[serde(default)]
    pub pool: String,
    #[serde(default)]
    pub node_class: String,
    pub node: String,
    pub reason: String,
    pub message: String,
    pub note: String,
    /// Distinguishes verdicts on the same NodeClaim.
    pub key: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub code: Option<i32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Code that matches the cause, if different.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub effective_code: Option<i32>,
    /// Reason of the diagnosis.
    pub cause: String,
    /// The cause in one sentence, without its full stop.
    pub summary: String,
    #[serde(default)]
    pub owner: String,
    #[serde(default)]
    pub confidence: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub evidence: Option<String>,
    #[serde(default)]
    pub source: String,
    /// Only an event reports it; neither Azure nor the API server shows it. Not counted by image.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub unconfirmed: bool,
    /// Karpenter had left the NodeClaim, and the message says so.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_idle: bool,
    /// Gallery, definition and version.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub image: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub zone: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub instance_type: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub launched: Option<Timestamp>,
}

impl FailureRecord {
    pub fn id_of(uid: &str, key: &str) -> String {
        format!("{:016x}", hash(&[uid, key]))
    }

    pub fn reported_at(&self) -> Timestamp {
        self.reported_at.unwrap_or(self.at)
    }

    pub fn blames_image(&self) -> bool {
        !self.unconfirmed && RegistrationCause::can_be_image(&self.cause)
    }
}
