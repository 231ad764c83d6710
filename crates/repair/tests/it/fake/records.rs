//! Runs that start by hand.

use mooring_repair::checks::Capacity;
use mooring_repair::plan;
use mooring_repair::plan::{HashedPlan, Plan, PlanError};
use mooring_repair::resume::further_overrides;
use mooring_repair::settings::Settings;
use mooring_repair::start_checks::{StartError, begin};
use mooring_repair::workflow::{Run, Runs, Session};
use mooring_workflow::Reading;
use mooring_workflow::approval::{Approval, ApprovalToken};

use super::cloud::Cloud;

/// Capacity of a pool that was never deleted; everything else is unknown.
pub(crate) fn capacity() -> Capacity {
    Capacity { deletions: Reading::Known(0), ..Capacity::unread() }
}

pub(crate) fn begun(
    runs: &Runs,
    cloud: &Cloud,
    settings: &Settings,
    capacity: &Capacity,
) -> Result<Run, StartError> {
    let plan = planned(cloud, settings, capacity).unwrap();
    let run = format!("run{}", cloud.journal.len());
    let approval = Approval::Typed(plan.document.hash());
    begin(runs, &plan, &[], settings, approval, &run, cloud.now)
}

/// A plan without checks of the wedge.
pub(crate) fn planned(
    cloud: &Cloud,
    settings: &Settings,
    capacity: &Capacity,
) -> Result<Plan, PlanError> {
    plan::build(&cloud.read_all(), settings, capacity, &[], ApprovalToken::expiry(cloud.now))
}

/// A process that continues a plan with its token.
pub(crate) fn session(plan: &HashedPlan, settings: &Settings) -> Session {
    let (further, approval) = (further_overrides(plan, settings), Approval::Token(plan.token()));
    Session::new(plan.clone(), further, approval, settings)
}
