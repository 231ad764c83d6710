//! The target of a command, and its confirmation.

use mooring_redact::printable;
use mooring_repair::plan::PlanError;
use mooring_repair::runtime::Operator;

use crate::failure::Failure;
use crate::runs::{confirm, write};

pub(super) async fn show_target(operator: &mut Operator) {
    let server = operator.api_server().await;
    let target = &operator.settings().target;
    let [cluster, group, subscription, pool] =
        [&target.cluster, &target.resource_group, &target.subscription, &target.pool]
            .map(|name| printable(name));
    let server = server.map_or_else(|| "unknown".to_owned(), |server| printable(&server));
    write(&format!(
        "Cluster     {cluster} (resource group {group}, subscription {subscription})\nAPI server  {server}\nPool        {pool}\n"
    ));
}

/// Prompts for `CLUSTER/POOL`.
pub(super) fn ask(operator: &Operator, what: &str, unattended: &str) -> Result<(), Failure> {
    let target = &operator.settings().target;
    let name = format!("{}/{}", target.cluster, target.pool);
    let [typed, pool, cluster] = [&name, &target.pool, &target.cluster].map(|name| printable(name));
    let question = format!("Type {typed} to {what} pool {pool} in cluster {cluster}: ");
    confirm(&name, &question, unattended)
}

pub(super) fn no_plan(error: &PlanError) -> Failure {
    match error {
        PlanError::Unread(..) => Failure::io(error.to_string()),
        PlanError::Throttled(..) => Failure::io(error.to_string()).with_code(6),
        PlanError::NoPool(_)
        | PlanError::NotRebuildable(_)
        | PlanError::NoSubnet(..)
        | PlanError::Pool(_) => Failure::blocked(error.to_string()),
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
