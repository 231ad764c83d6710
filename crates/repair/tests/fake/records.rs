//! Journals written by hand, and runs that may begin on them or not.

use std::sync::Arc;

use mooring_repair::begin::{BeginError, Start, begin};
use mooring_repair::checks::Capacity;
use mooring_repair::plan;
use mooring_repair::plan::{Document, Plan, PlanError};
use mooring_repair::resume::further_overrides;
use mooring_repair::settings::Settings;
use mooring_repair::workflow::{Entry, Record, Session};
use mooring_workflow::Reading;
use mooring_workflow::approval::{Approval, ApprovalToken};
use mooring_workflow::journal::follow;
use mooring_workflow::lock::Owner;

use super::cloud::Cloud;

pub fn owner() -> Owner {
    Owner { host: "h".into(), pid: 1, holder: "x".into() }
}

/// One record more of the last one's run.
pub fn append(records: &mut Vec<Record>, entry: Entry) {
    let last = records.last().unwrap();
    let record = follow(Some(last), &last.run.clone(), last.at, entry);
    records.push(record);
}

/// What is around a pool that was never deleted; nothing else of it is known.
pub fn around() -> Capacity {
    Capacity { deletions: Reading::Known(0), ..Capacity::unread() }
}

/// A new run of what the cloud shows.
pub fn begun(
    records: &[Record],
    cloud: &Cloud,
    settings: &Settings,
    around: &Capacity,
) -> Result<Record, BeginError> {
    let plan = planned(cloud, settings, around).unwrap();
    let run = format!("run{}", records.len());
    let approval = Approval::Typed(plan.document.hash());
    begin(records, &plan, &[], settings, Start { owner: owner(), approval }, &run, cloud.now)
}

/// A plan of what the cloud shows, by nobody's judgement of the wedge.
pub fn planned(cloud: &Cloud, settings: &Settings, around: &Capacity) -> Result<Plan, PlanError> {
    plan::build(&cloud.looked_at(), settings, around, &[], ApprovalToken::expiry(cloud.now))
}

/// A process that goes on with a plan that its operator has the token of.
pub fn session(plan: &Arc<Document>, settings: &Settings) -> Box<Session> {
    Box::new(Session {
        overrides: further_overrides(plan, settings),
        approval: Approval::Token(plan.token()),
        plan: Arc::clone(plan),
        owner: owner(),
        journal: settings.journal.clone(),
        overall: settings.limits.overall,
        poll: settings.limits.poll,
    })
}
