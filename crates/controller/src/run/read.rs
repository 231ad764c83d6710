//! Reads of Azure, each with a timeout, each resulting in an observation.

use std::time::Duration;

use mooring_arm::{Client, Error, ErrorKind, Priority, ResourceId};

use crate::observation::{MachineStatus, Observation, VmObservation};
use crate::schedule::QueuePriority;
use crate::state::{ReadTarget, Sweep, SweepResult, SweepRow, sweep_query};

/// A VM is deleted within this time; other reads can wait for a retry.
const EVENT_READ_TIMEOUT: Duration = Duration::from_secs(10);
/// Shorter than the time that the state waits for a result.
const READ_TIMEOUT: Duration = Duration::from_secs(45);

pub async fn observe(arm: &Client, target: &ReadTarget, priority: QueuePriority) -> Observation {
    let client = match priority {
        QueuePriority::Trigger => arm.at(Priority::Trigger).within(EVENT_READ_TIMEOUT),
        // After scheduled reads, and without use once the VM is deleted.
        QueuePriority::Event => arm.at(Priority::Routine).within(EVENT_READ_TIMEOUT),
        QueuePriority::Sweep | QueuePriority::Pending => {
            arm.at(Priority::Routine).within(READ_TIMEOUT)
        }
    };
    let path = match target {
        ReadTarget::Vm(vm) => vm.path(),
        ReadTarget::Machine(machine) => machine.path(),
    };
    let Ok(id) = ResourceId::parse(&path) else {
        return Observation::Unreadable { what: "invalid resource id" };
    };
    let response = match target {
        ReadTarget::Vm(_) => {
            let vm = client.vm(&id).await;
            vm.map(|vm| Observation::Vm(VmObservation::of(&vm)))
        }
        ReadTarget::Machine(_) => {
            let machine = client.machine(&id).await;
            machine.map(|machine| Observation::Machine(MachineStatus::of(&machine)))
        }
    };
    response.unwrap_or_else(|error| observe_error(&error))
}

/// Converts an error. Its text is logged where it can be acted on.
fn observe_error(error: &Error) -> Observation {
    match &error.kind {
        ErrorKind::NotFound(_) => Observation::Missing,
        ErrorKind::Unauthorized(_) => Observation::Denied { status: 401 },
        ErrorKind::Forbidden(_) => Observation::Denied { status: 403 },
        ErrorKind::Throttled { retry_after, .. } => {
            Observation::Throttled { retry_after: *retry_after }
        }
        ErrorKind::BudgetFull => Observation::Throttled { retry_after: None },
        ErrorKind::Identity(why) => {
            tracing::error!(%why, "failed to get an Azure access token");
            Observation::Unreadable { what: "no Azure access token" }
        }
        ErrorKind::Deadline(_) | ErrorKind::Transport(_) => {
            Observation::Unreadable { what: "no response from Azure" }
        }
        ErrorKind::Server(_) => Observation::Unreadable { what: "server error" },
        _ => Observation::Unreadable { what: "unexpected response" },
    }
}

/// Reads a list; none if that failed.
pub async fn read_list(arm: &Client, sweep: &Sweep) -> Option<SweepResult> {
    let client = arm.at(Priority::Sweep).within(READ_TIMEOUT);
    let found = match sweep {
        Sweep::Extensions { subscription, group } => {
            let rows = client.graph::<SweepRow>(&[&**subscription], &sweep_query(group)).await;
            rows.map(|rows| {
                let rows = rows.iter().filter_map(SweepRow::state).collect();
                SweepResult::Extensions { group: group.clone(), rows }
            })
        }
        Sweep::Machines { pool } => {
            let id = ResourceId::parse(pool).ok()?;
            let machines = client.machines(&id).await;
            machines.map(|machines| {
                let machines = machines.iter().map(MachineStatus::of).collect();
                SweepResult::Machines { pool: pool.clone(), machines }
            })
        }
    };
    found.inspect_err(|error| tracing::warn!(%error, "sweep failed")).ok()
}

#[cfg(test)]
mod tests {
    use mooring_arm::identity::IdentityError;
    use mooring_arm::{AzureError, CallInfo, WriteStatus};

    use super::*;

    #[test]
    fn error_of_azure_is_an_observation() {
        let refusal = || AzureError::read(400, None, b"");
        let pause = Some(Duration::from_secs(7));
        let unreadable = |what| Observation::Unreadable { what };
        for (kind, expected) in [
            (ErrorKind::NotFound(refusal()), Observation::Missing),
            (ErrorKind::Unauthorized(refusal()), Observation::Denied { status: 401 }),
            (ErrorKind::Forbidden(refusal()), Observation::Denied { status: 403 }),
            (
                ErrorKind::Throttled { refusal: refusal(), retry_after: pause },
                Observation::Throttled { retry_after: pause },
            ),
            (ErrorKind::BudgetFull, Observation::Throttled { retry_after: None }),
            (
                ErrorKind::Identity(IdentityError::Setup(String::new())),
                unreadable("no Azure access token"),
            ),
            (ErrorKind::Deadline("x"), unreadable("no response from Azure")),
            (ErrorKind::Server(refusal()), unreadable("server error")),
            (ErrorKind::Refused(refusal()), unreadable("unexpected response")),
        ] {
            let (write_status, call) = (WriteStatus::NotApplied, Box::<CallInfo>::default());
            let error = Error { kind, write_status, call };
            assert_eq!(observe_error(&error), expected, "{error:?}");
        }
    }
}
