//! Plans written by hand, for tests that need a journal and no cluster.

use std::collections::BTreeMap;

use mooring_repair::plan::{HashedPlan, PlanDocument, Step};
use mooring_repair::settings::{PoolTarget, Settings};
use mooring_repair::workflow::Session;
use mooring_workflow::approval::Approval;
use serde_json::json;

pub(crate) fn target(pool: &str) -> PoolTarget {
    PoolTarget {
        subscription: "s".into(),
        resource_group: "g".into(),
        cluster: "c".into(),
        pool: pool.into(),
    }
}

/// A plan with a value in every member.
pub(crate) fn document(settings: &Settings) -> PlanDocument {
    let pool = settings.target.pool.clone();
    PlanDocument {
        tool: env!("CARGO_PKG_VERSION").into(),
        cluster: "/c".into(),
        cluster_uid: Some("u".into()),
        pool_hash: "p".into(),
        source: json!({"id": "/c/agentPools/p", "a": [1, null, "é\n"]}),
        stripped: vec!["/x".into()],
        scale_set: Some("v".into()),
        settings: settings.bound(),
        adopts: None,
        findings: BTreeMap::from([("quota".into(), mooring_workflow::Outcome::Unknown)]),
        steps: Step::ALL.to_vec(),
        temporary_body: json!({"properties": {"count": 1}}),
        pool_body: json!({"properties": {"count": 3, "spotMaxPrice": -1.0}}),
        expires: "2026-05-17T07:40:00Z".parse().unwrap(),
        pool,
    }
}

pub(crate) fn session(settings: &Settings) -> Session {
    let plan = HashedPlan::new(document(settings));
    let approval = Approval::Token(plan.token());
    Session::new(plan, BTreeMap::new(), approval, settings)
}
