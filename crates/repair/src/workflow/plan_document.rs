//! The plan as an approved document with a hash.

use std::collections::BTreeMap;
use std::ops::Deref;
use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;

use super::step::Step;
use crate::settings::Settings;
use mooring_workflow::Outcome;
use mooring_workflow::approval::{ApprovalToken, PlanHash, hash_document};

/// Time after its expiry in which a started plan can be resumed without a new approval.
const RESUME_PERIOD: SignedDuration = SignedDuration::from_hours(23);

/// An approved plan.
///
/// The hash covers all of it. Evidence, the location of the journal, the deadline of a session and the tags of the temporary
/// pool are not part of it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PlanDocument {
    pub tool: String,
    /// Resource id of the cluster, in lower case.
    pub cluster: String,
    /// Uid of the namespace `kube-system`; none if it could not be read.
    pub cluster_uid: Option<String>,
    pub pool: String,
    /// Hash of the live pool without fields that the service changes.
    pub pool_hash: String,
    /// The live pool without secrets: the only copy once it is deleted.
    pub source: Value,
    /// Pointers to members of the live pool that `source` lacks.
    pub stripped: Vec<String>,
    /// Resource id of the pool's scale set.
    pub scale_set: Option<String>,
    /// Thresholds, policies, limits and overrides, see [`Settings::bound`].
    pub settings: Settings,
    /// Finished run whose temporary pool is adopted.
    pub adopts: Option<String>,
    /// Outcomes other than pass.
    pub findings: BTreeMap<String, Outcome>,
    pub steps: Vec<Step>,
    /// Body of the temporary pool, without the tags of the run.
    pub temporary_body: Value,
    /// Body of the recreated pool.
    pub pool_body: Value,
    /// Time until which a run may start.
    pub expires: Timestamp,
}

impl PlanDocument {
    /// Returns the time until which a run can be resumed with an earlier approval.
    pub fn resume_before(&self) -> Timestamp {
        self.expires.checked_add(RESUME_PERIOD).unwrap_or(Timestamp::MAX)
    }

    /// Ignores case, which varies in responses.
    pub fn is_on(&self, scale_set: &str) -> bool {
        self.scale_set.as_deref().is_some_and(|id| id.eq_ignore_ascii_case(scale_set))
    }

    /// Returns the resource id of the pool.
    pub fn source_id(&self) -> &str {
        self.source.get("id").and_then(Value::as_str).unwrap_or_default()
    }
}

/// A plan with its hash, which is costly to compute. Clones share both.
#[derive(Debug, Clone)]
pub struct HashedPlan(Arc<(PlanDocument, PlanHash)>);

impl HashedPlan {
    pub fn new(document: PlanDocument) -> Self {
        let hash = hash_document(&document);
        Self(Arc::new((document, hash)))
    }

    pub fn hash(&self) -> PlanHash {
        self.0.1.clone()
    }

    /// Returns the value of `--plan-hash`.
    pub fn token(&self) -> ApprovalToken {
        ApprovalToken { expires: self.expires, hash: self.hash() }
    }

    /// Returns the plan with more overrides.
    #[must_use]
    pub fn with_overrides(&self, overrides: &BTreeMap<String, String>) -> Self {
        if overrides.is_empty() {
            return self.clone();
        }
        let mut plan = PlanDocument::clone(self);
        for (name, reason) in overrides {
            plan.settings.apply_override(name, reason);
        }
        Self::new(plan)
    }
}

impl Deref for HashedPlan {
    type Target = PlanDocument;

    fn deref(&self) -> &PlanDocument {
        &self.0.0
    }
}

impl PartialEq for HashedPlan {
    fn eq(&self, other: &Self) -> bool {
        self.0.1 == other.0.1
    }
}

impl Serialize for HashedPlan {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        (**self).serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for HashedPlan {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        PlanDocument::deserialize(deserializer).map(Self::new)
    }
}
