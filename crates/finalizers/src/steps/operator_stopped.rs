//! The check before every step that deletes or removes finalizers.

use jiff::{SignedDuration, Timestamp};
use mooring_workflow::{NotRead, Reason};

use super::context::{Context, stop};
use crate::cluster::observation::OperatorWorkload;
use crate::removal::step::Step;
use crate::removal::workflow::Decision;

/// Maximum clock skew between the cluster and this process.
const LEASE_GRACE: SignedDuration = SignedDuration::from_secs(15);

impl Context<'_> {
    /// Returns the stop if a workload of the operator runs or one of its Leases is renewed: a running controller removes its
    /// finalizers itself.
    pub(super) async fn operator_runs(&self) -> Result<Option<Decision>, NotRead> {
        let unknown = |why: String| {
            let message = format!("cannot determine whether the operator is running: {why}");
            Ok(Some(stop(Reason::CheckFailed, message)))
        };
        let controllers = match self.controllers().await? {
            Ok(controllers) => controllers,
            Err(why) => return unknown(why),
        };
        let running = controllers.iter().filter(|controller| controller.runs());
        let (planned, other): (Vec<&OperatorWorkload>, Vec<_>) =
            running.partition(|controller| self.may_run(controller));
        if let Some(running) = other.first() {
            let message = format!("the operator is running again ({})", running.target);
            return Ok(Some(stop(Reason::CheckFailed, message)));
        }
        // The Leases of a planned workload are its own; without one, the operator may run outside the cluster.
        if !planned.is_empty() || self.terms.ignores_operator() {
            return Ok(None);
        }
        // Its workload may have renewed one until its last pod stopped.
        let since = self.run.step_since().checked_add(LEASE_GRACE).unwrap_or(Timestamp::MAX);
        let leases = match self.leases().await? {
            Ok(leases) => leases,
            Err(why) => return unknown(why),
        };
        Ok(leases.iter().find(|lease| lease.renewed > since).map(|lease| {
            let message = format!("the operator is running: Lease {} is being renewed", lease.name);
            stop(Reason::CheckFailed, message)
        }))
    }

    /// Returns true for a workload that the plan scales to zero after its teardown: objects are deleted while it runs.
    fn may_run(&self, controller: &OperatorWorkload) -> bool {
        self.run.step() == Some(Step::DeleteObjects)
            && self.terms.settings.scale_down
            && controller.is_scalable()
            && self.terms.covers(&controller.target)
    }
}
