//! The plan as a document: everything that an approval covers, under one hash.

use std::collections::BTreeMap;

use jiff::{SignedDuration, Timestamp};
use serde::de::IntoDeserializer as _;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;

use super::step::Step;
use crate::settings::Settings;
use mooring_workflow::Outcome;
use mooring_workflow::approval::{ApprovalToken, PlanHash, hash_document};

/// The schema of the documents that this version makes.
pub const SCHEMA: &str = "mooring.repair.plan/v2";

/// How long after its expiry a plan that was begun can be resumed without a new approval.
const RESUME_PERIOD: SignedDuration = SignedDuration::from_hours(23);

/// A repair as it is approved and executed.
///
/// Bound by the hash: all of it. Not bound: texts of evidence, where the journal is, a session's deadline, and the
/// tags by which the temporary pool points back at the run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Document {
    /// See [`SCHEMA`].
    pub schema: String,
    /// The version of Mooring that made it.
    pub tool: String,
    /// The cluster's resource id, in lower case.
    pub cluster: String,
    pub pool: String,
    /// The hash of the live pool, without what changes by itself.
    pub pool_hash: String,
    /// The live pool without what may be secret: the only copy once it is deleted.
    pub source: Value,
    /// Members of the live pool that `source` lacks, as pointers.
    pub stripped: Vec<String>,
    /// The resource id of the pool's scale set, if it has one.
    pub scale_set: Option<String>,
    /// Thresholds, policies, limits and overrides, see [`Settings::bound`].
    pub settings: Settings,
    /// The finished run whose temporary pool this one adopts.
    pub adopts: Option<String>,
    /// The outcome of every check that does not pass.
    pub findings: BTreeMap<String, Outcome>,
    /// Names of the steps, in order and as they were approved: the hash covers the spelling.
    #[serde(deserialize_with = "known_steps")]
    pub steps: Vec<String>,
    /// The body of the request that creates the temporary pool, without the tags that point back.
    pub temporary_body: Value,
    /// The body of the request that recreates the pool.
    pub pool_body: Value,
    /// Until when a run of it may begin.
    pub expires: Timestamp,
}

fn known_steps<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<String>, D::Error> {
    let names: Vec<String> = Vec::deserialize(deserializer)?;
    for name in &names {
        Step::deserialize(name.as_str().into_deserializer())?;
    }
    Ok(names)
}

impl Document {
    /// Returns the hash over all of it.
    pub fn hash(&self) -> PlanHash {
        hash_document(self)
    }

    /// Returns what `--plan-hash` takes.
    pub fn token(&self) -> ApprovalToken {
        ApprovalToken { expires: self.expires, hash: self.hash() }
    }

    /// Returns until when a run of it can be resumed on the strength of an earlier approval.
    pub fn resume_before(&self) -> Timestamp {
        self.expires.checked_add(RESUME_PERIOD).unwrap_or(Timestamp::MAX)
    }

    /// Returns true if the pool is on this scale set. The service does not always spell an id alike.
    pub fn is_on(&self, scale_set: &str) -> bool {
        self.scale_set.as_deref().is_some_and(|id| id.eq_ignore_ascii_case(scale_set))
    }

    /// Returns the resource id of the pool, as the temporary pool's tag names it.
    pub fn source_id(&self) -> &str {
        self.source.get("id").and_then(Value::as_str).unwrap_or_default()
    }

    /// Returns the same plan with further overrides, which is another plan if there are any.
    #[must_use]
    pub fn with_overrides(&self, overrides: &BTreeMap<String, String>) -> Self {
        let mut plan = self.clone();
        for (name, reason) in overrides {
            plan.settings.apply_override(name, reason);
        }
        plan
    }
}
