//! Reads of Azure, each ended within a bound, each an observation.

use std::time::Duration;

use mooring_arm::{Client, Error, ErrorKind, Priority as Turn, Raw, ResourceId};
use serde_json::value::RawValue;

use crate::observation::{MachineSeen, Observation};
use crate::schedule::Priority;
use crate::state::{Sweep, Swept, Target, sweep_query, sweep_rows};

/// A VM that is going is gone after this; anything else can wait for a repeated request.
const AT_ONCE: Duration = Duration::from_secs(10);
/// Shorter than what the state waits for an answer.
const IN_TIME: Duration = Duration::from_secs(45);

/// What a read of one thing shows.
pub async fn observe(arm: &Client, target: &Target, priority: Priority) -> Observation {
    let client = match priority {
        Priority::Trigger => arm.at(Turn::Trigger).within(AT_ONCE),
        // Not before what is scheduled, and of no use once the VM is gone.
        Priority::Event => arm.at(Turn::Routine).within(AT_ONCE),
        Priority::Wanted | Priority::Pending => arm.at(Turn::Routine).within(IN_TIME),
    };
    let path = match target {
        Target::Vm(vm) => vm.path(),
        Target::Machine(machine) => machine.path(),
    };
    let Ok(id) = ResourceId::parse(&path) else {
        return Observation::Unreadable { what: "a resource id that cannot be read" };
    };
    let answer = match target {
        Target::Vm(_) => {
            let vm = client.vm(&id).await;
            vm.map(|vm| Observation::of_vm(200, None, vm.text().as_bytes()))
        }
        Target::Machine(_) => {
            let machine = client.machine(&id).await;
            machine.map(|machine| Observation::of_machine(200, None, machine.text().as_bytes()))
        }
    };
    answer.unwrap_or_else(|error| refused(&error))
}

/// What an error shows. What it says in words is logged by those who can do something about it.
fn refused(error: &Error) -> Observation {
    match &error.kind {
        ErrorKind::NotFound(_) => Observation::Missing,
        ErrorKind::Unauthorized(_) => Observation::Refused { status: 401 },
        ErrorKind::Forbidden(_) => Observation::Refused { status: 403 },
        ErrorKind::Throttled { retry_after, .. } => {
            Observation::Throttled { retry_after: *retry_after }
        }
        ErrorKind::BudgetFull => Observation::Throttled { retry_after: None },
        ErrorKind::Identity(why) => {
            tracing::error!(%why, "no token for Azure");
            Observation::Unreadable { what: "no token for Azure" }
        }
        ErrorKind::Deadline(_) | ErrorKind::Transport(_) => {
            Observation::Unreadable { what: "no answer of Azure's" }
        }
        ErrorKind::Server(_) => Observation::Unreadable { what: "an error of Azure's" },
        _ => Observation::Unreadable { what: "an unexpected answer" },
    }
}

/// What a read of many things shows; nothing if it failed.
pub async fn swept(arm: &Client, sweep: &Sweep) -> Option<Swept> {
    let client = arm.at(Turn::Sweep).within(IN_TIME);
    let found = match sweep {
        Sweep::Extensions { subscription, group } => {
            let rows = client.graph::<Box<RawValue>>(&[&**subscription], &sweep_query(group)).await;
            rows.map(|rows| {
                let rows: Vec<&str> = rows.iter().map(Raw::text).collect();
                let page = format!("{{\"data\":[{}]}}", rows.join(","));
                let rows = sweep_rows(page.as_bytes()).unwrap_or_default();
                Swept::Extensions { group: group.clone(), rows }
            })
        }
        Sweep::Machines { pool } => {
            let id = ResourceId::parse(pool).ok()?;
            let machines = client.machines(&id).await;
            machines.map(|machines| {
                let seen = machines.iter();
                let seen = seen.filter_map(|machine| MachineSeen::parse(machine.text().as_bytes()));
                Swept::Machines { pool: pool.clone(), machines: seen.collect() }
            })
        }
    };
    found.inspect_err(|error| tracing::warn!(%error, "a sweep failed")).ok()
}
