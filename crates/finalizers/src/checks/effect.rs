//! What must hold right before finalizers are removed.

use jiff::{SignedDuration, Timestamp};

use crate::steps::{Context, Halt, stop};
use crate::view::Query;
use crate::workflow::Reason;

/// How far the clocks of the cluster and of this process may differ.
const LEASE_GRACE: SignedDuration = SignedDuration::from_secs(15);
/// No workload of the operator runs, and no Lease of it is renewed: a controller that processes finalizers removes its own.
pub(crate) fn operator_stopped(cx: &Context<'_>) -> Result<(), Halt> {
    match cx.controllers()? {
        Ok(controllers) => {
            if let Some(running) = controllers.iter().find(|controller| controller.runs()) {
                let message = format!("the operator runs again ({})", running.target);
                return Err(stop(Reason::OperatorRuns, message));
            }
        }
        Err(why) => {
            let message = format!("whether the operator runs is not known: {why}");
            return Err(stop(Reason::OperatorUnknown, message));
        }
    }
    no_lease_renewed(cx)
}

/// Stops if a Lease of the operator is renewed although no workload of it runs: it runs where it cannot be seen.
fn no_lease_renewed(cx: &Context<'_>) -> Result<(), Halt> {
    if cx.terms.ignores_operator() {
        return Ok(());
    }
    // Its workload may have renewed one until its last pod ended.
    let since = cx.run.step_since().checked_add(LEASE_GRACE).unwrap_or(Timestamp::MAX);
    match cx.read(cx.view.leases.as_ref(), Query::Leases)? {
        Ok(leases) => match leases.into_iter().flatten().find(|lease| lease.renewed > since) {
            None => Ok(()),
            Some(lease) => {
                let message = format!("the operator runs: Lease {} is being renewed", lease.name);
                Err(stop(Reason::OperatorRuns, message))
            }
        },
        Err(why) => {
            let message = format!("whether the operator runs is not known: {why}");
            Err(stop(Reason::OperatorUnknown, message))
        }
    }
}
