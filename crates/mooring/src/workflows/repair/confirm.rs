//! The target of a change, and the errors of its plan.

use mooring_repair::plan::{Plan, PlanError};
use mooring_repair::runtime::Operator;
use mooring_terminal::{Mark, Screen, Text};
use mooring_workflow::plural::counted;

use crate::output::failure::CommandFailure;
use crate::workflows::runs::write_screen;

/// Shows what a command changes, and where. `what` is a sentence without its end, `plan` has the counts of nodes and pods.
pub(super) async fn show_target(operator: &mut Operator, what: &str, plan: Option<&Plan>) {
    let identity = operator.identity().await;
    let target = &operator.settings().target;
    let counts = plan.map(|plan| {
        let count = |number: Option<usize>, what: &str| {
            number.map_or_else(|| format!("an unknown number of {what}s"), |n| counted(n, what))
        };
        format!(" ({}, {})", count(plan.nodes, "node"), count(plan.pods, "pod"))
    });
    let mut screen = Screen::default();
    let pool = Text::new(format!("{what} pool ")).bold(&target.pool);
    screen.marked(Mark::Warning, pool.plain(counts.unwrap_or_default()).plain(" in"));
    let region = plan.map(|plan| plan.region.as_deref().unwrap_or("region unknown"));
    let region = region.map(|region| format!(", {region}")).unwrap_or_default();
    let cluster = Text::default().bold(&target.cluster).plain(format!(
        "{region}, resource group {}, subscription {}",
        target.resource_group, target.subscription
    ));
    let server = identity.server.as_deref().unwrap_or("unknown");
    let access = match &identity.context {
        Some(context) => format!("context {context}"),
        None => "credentials from Azure".to_owned(),
    };
    screen.labeled(2, 10, "cluster", [cluster]);
    screen.labeled(2, 10, "server", [Text::new(format!("{server} ({access})"))]);
    if identity.uid.is_none() {
        let why =
            "the uid of kube-system could not be read, so the plan is not bound to this cluster";
        screen.labeled(2, 10, "warning", [Text::new(why)]);
    }
    write_screen(&screen);
}

pub(super) fn no_plan(error: &PlanError) -> CommandFailure {
    match error {
        PlanError::Unread(..) => CommandFailure::io(error.to_string()),
        PlanError::Throttled(..) => CommandFailure::io(error.to_string()).with_code(6),
        PlanError::NoPool(_)
        | PlanError::NotRebuildable(_)
        | PlanError::NoSubnet(..)
        | PlanError::Pool(_) => CommandFailure::blocked(error.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn throttled_plan_is_exit_6() {
        let code = |error: &PlanError| format!("{:?}", no_plan(error));
        let why = || "HTTP 429".to_owned();
        assert!(code(&PlanError::Throttled("pools", why())).contains("exit_code: 6"));
        assert!(code(&PlanError::Unread("pools", why())).contains("exit_code: 3"));
        assert!(code(&PlanError::NoPool("system".to_owned())).contains("exit_code: 4"));
    }
}
