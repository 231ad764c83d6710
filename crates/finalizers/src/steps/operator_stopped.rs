//! The check before every step that deletes or removes finalizers.

use jiff::{SignedDuration, Timestamp};

use super::context::{Context, Halt, stop};
use crate::cluster::observation::OperatorWorkload;
use crate::cluster::view::Query;
use crate::removal::step::Step;
use crate::removal::workflow::Reason;

/// Maximum clock skew between the cluster and this process.
const LEASE_GRACE: SignedDuration = SignedDuration::from_secs(15);

impl Context<'_> {
    /// Ensures that no workload of the operator runs and none of its Leases is renewed: a running controller removes its
    /// finalizers itself.
    pub(super) fn ensure_operator_stopped(&self) -> Result<(), Halt> {
        match self.controllers()? {
            Ok(controllers) => {
                let running = controllers.iter().filter(|controller| controller.runs());
                let (planned, other): (Vec<&OperatorWorkload>, Vec<_>) =
                    running.partition(|controller| may_run(self, controller));
                if let Some(running) = other.first() {
                    let message = format!("the operator is running again ({})", running.target);
                    return Err(stop(Reason::OperatorRuns, message));
                }
                // Its Leases are those of the planned workload.
                if !planned.is_empty() {
                    return Ok(());
                }
            }
            Err(why) => {
                let message = format!("cannot determine whether the operator is running: {why}");
                return Err(stop(Reason::OperatorUnknown, message));
            }
        }
        no_lease_renewed(self)
    }
}

/// Returns true for a workload that the plan scales to zero after its teardown: objects are deleted while it runs.
fn may_run(cx: &Context<'_>, controller: &OperatorWorkload) -> bool {
    cx.run.step() == Some(Step::DeleteObjects)
        && cx.terms.settings.scale_down
        && controller.is_scalable()
        && cx.terms.covers(&controller.target)
}

/// Stops if a Lease is renewed although no workload runs: the operator may run outside the cluster.
fn no_lease_renewed(cx: &Context<'_>) -> Result<(), Halt> {
    if cx.terms.ignores_operator() {
        return Ok(());
    }
    // Its workload may have renewed one until its last pod stopped.
    let since = cx.run.step_since().checked_add(LEASE_GRACE).unwrap_or(Timestamp::MAX);
    match cx.read(cx.view.leases.as_ref(), Query::Leases)? {
        Ok(leases) => match leases.into_iter().flatten().find(|lease| lease.renewed > since) {
            None => Ok(()),
            Some(lease) => {
                let message =
                    format!("the operator is running: Lease {} is being renewed", lease.name);
                Err(stop(Reason::OperatorRuns, message))
            }
        },
        Err(why) => {
            let message = format!("cannot determine whether the operator is running: {why}");
            Err(stop(Reason::OperatorUnknown, message))
        }
    }
}
