//! The cluster of a kubeconfig: found from its nodes, and proven by its server or the uid of `kube-system`.

use mooring_arm::{BudgetLimits, ResourceId};
use mooring_controller::run::Api;
use mooring_workflow::published::ClusterIdentity;

use super::arguments::{RepairCommand, ResumeArguments, StatusArguments, TargetArguments};
use crate::arguments::ClusterName;
use crate::cluster::config;
use crate::cluster::connect;
use crate::cluster::{
    NodesCluster, about_the_nodes, conflict, find_cluster, find_known_cluster, wait_for,
};
use crate::output::failure::CommandFailure;
use crate::output::show;
use crate::process::build_runtime;
use crate::workflows::runs::{ReadLimit, ensure_terminal};

/// The AKS cluster of a context.
pub(crate) struct ContextCluster {
    context: String,
    id: ResourceId,
    uid: Option<String>,
    /// Azure has the server of the context as that of the cluster.
    has_server: bool,
    is_protected: bool,
}

impl ContextCluster {
    /// Finds the cluster of `--context`, `MOORING_CONTEXT` or `--kubeconfig`, or of the current context if nothing names
    /// a cluster. None if flags or variables alone name it.
    pub(super) fn find(
        command: &RepairCommand,
        limit: Option<ReadLimit>,
    ) -> Result<Option<Self>, CommandFailure> {
        let target = command.target();
        let is_named = target.has_context() || target.kubeconfig.is_some();
        if !is_named {
            let has_name = connect::named_cluster(&target.name, None).cluster.is_some();
            if has_name || mooring_k8s::kubeconfig::contexts(None).is_empty() {
                return Ok(None);
            }
            if command.is_unattended() {
                return Err(CommandFailure::blocked(
                    "no cluster is named: the current context is not enough for a change without confirmation\nhint: pass --context, or --subscription, --resource-group and --cluster".to_owned(),
                ));
            }
        }
        let end = ReadLimit::end(limit);
        let found = wait_for("waiting for the Kubernetes API", &end, find(command));
        let found =
            build_runtime()?.block_on(ReadLimit::apply(limit, "the Kubernetes API", found))?;
        if found.is_protected && command.is_unattended() {
            ensure_terminal(&found.context)?;
        }
        Ok(Some(found))
    }

    /// Returns the cluster as flags name it.
    pub(super) fn name(&self) -> ClusterName {
        ClusterName { cluster: Some(self.id.as_str().to_owned()), ..ClusterName::default() }
    }

    /// Returns the name of the context if changes are confirmed on a terminal, also with a plan hash.
    pub(super) fn protected(&self) -> Option<&str> {
        self.is_protected.then_some(self.context.as_str())
    }

    /// Compares the uid of `kube-system` with that of the cluster in Azure.
    pub(super) fn compare(&self, by_azure: Option<&str>) -> Result<(), CommandFailure> {
        match (&self.uid, by_azure) {
            (Some(own), Some(other)) if *own != other => Err(CommandFailure::blocked(format!(
                "context {} and cluster {} are two clusters: the uids of kube-system differ\nhint: `az aks get-credentials` writes the context again",
                self.context, self.id
            ))),
            (Some(_), Some(_)) => Ok(()),
            _ if self.has_server => Ok(()),
            _ => {
                let name = self.id.name();
                show::print_warning(&format!(
                    "not proven that context {} is cluster {name}: the uid of kube-system could not be read",
                    self.context
                ));
                Ok(())
            }
        }
    }
}

async fn find(command: &RepairCommand) -> Result<ContextCluster, CommandFailure> {
    let target = command.target();
    let connection =
        connect::connect_kube(target.kubeconfig.as_deref(), target.context.as_ref()).await?;
    let context = connection.context.unwrap_or_else(|| "in-cluster".to_owned());
    let entry = config::context(Some(&context))?;
    let named = connect::named_cluster(&target.name, None);
    let nodes = NodesCluster::read(&Api::new(connection.client)).await?;
    let arm = connect::azure_client(None, BudgetLimits::default())?;
    let found = match &nodes.scope {
        Some(scope) => {
            let identity = ClusterIdentity {
                server: Some(connection.server.clone()),
                uid: nodes.uid.clone(),
                ..ClusterIdentity::default()
            };
            // A change never depends on a stored file.
            let found = if command.is_change() {
                find_cluster(&arm, scope).await
            } else {
                find_known_cluster(&arm, scope, &identity).await
            };
            found.map_err(|error| CommandFailure::azure(&error))?
        }
        None => None,
    };
    let has_server = found.as_ref().is_some_and(|found| found.has_server(&connection.server));
    let found = found.map(|found| found.id);
    let id = found.or_else(|| entry.cluster_id()).or_else(|| named.id()).ok_or_else(|| {
        CommandFailure::io(format!(
            "the AKS cluster of context {context} was not found from its nodes\nhint: pass --subscription, --resource-group and --cluster"
        ))
    })?;
    let conflict = named.differs(&id).then(|| conflict(&named, &id));
    match conflict.or_else(|| nodes.conflict(&named)) {
        Some(conflict) if command.is_change() => {
            return Err(CommandFailure::blocked(format!(
                "two clusters: {conflict}\nhint: pass only --context, or unset the variables"
            )));
        }
        Some(conflict) => show::print_warning(&about_the_nodes(&conflict)),
        None => {}
    }
    let (uid, is_protected) = (nodes.uid, entry.protected);
    Ok(ContextCluster { context, id, uid, has_server, is_protected })
}

impl RepairCommand {
    pub(crate) fn target(&self) -> &TargetArguments {
        match self {
            Self::Detect { target, .. }
            | Self::Plan { target, .. }
            | Self::Apply { target, .. }
            | Self::Resume(ResumeArguments { target, .. })
            | Self::Status(StatusArguments { target, .. })
            | Self::Abort { target, .. } => target,
        }
    }

    /// Returns the limit of a command that changes nothing and ends by itself. `DRY_RUN` may make it a dry run.
    pub(super) fn limit(&self, dry_run_variable: bool) -> Option<ReadLimit> {
        match self {
            Self::Detect { limit, .. }
            | Self::Plan { limit, .. }
            | Self::Status(StatusArguments { limit, watch: false, .. }) => Some(*limit),
            Self::Apply { limit, dry_run, .. }
            | Self::Resume(ResumeArguments { limit, dry_run, .. })
            | Self::Abort { limit, dry_run, .. }
                if *dry_run || dry_run_variable =>
            {
                Some(ReadLimit { timeout: limit.timeout })
            }
            _ => None,
        }
    }

    fn is_change(&self) -> bool {
        matches!(self, Self::Apply { .. } | Self::Resume(_) | Self::Abort { .. })
    }

    /// Returns true for a change that flags approve, without a prompt.
    fn is_unattended(&self) -> bool {
        match self {
            Self::Apply { approval, .. } => approval.plan_hash.is_some(),
            Self::Resume(arguments) => arguments.yes || arguments.plan_hash.is_some(),
            Self::Abort { yes, .. } => *yes,
            Self::Detect { .. } | Self::Plan { .. } | Self::Status(_) => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser as _;

    use super::*;
    use crate::cli::parser::{Cli, Command};

    fn repair(words: &[&str]) -> RepairCommand {
        let cli = Cli::parse_from([&["mooring", "repair"], words].concat());
        match cli.command {
            Some(Command::Repair(arguments)) => arguments.command.unwrap(),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn reads_have_a_limit_and_changes_may_be_unattended() {
        let hash = format!("20991115T113000Z.{}", "a".repeat(64));
        for (words, has_limit, is_change, is_unattended) in [
            (&["detect"][..], true, false, false),
            (&["plan"], true, false, false),
            (&["status"], true, false, false),
            (&["status", "--watch"], false, false, false),
            (&["apply"], false, true, false),
            (&["apply", "--dry-run"], true, true, false),
            (&["resume", "--dry-run", "--timeout", "9s"], true, true, false),
            (&["abort", "--dry-run"], true, true, false),
            (&["apply", "--yes", "--plan-hash", &hash], false, true, true),
            (&["resume"], false, true, false),
            (&["resume", "--yes"], false, true, true),
            (&["resume", "--plan-hash", &hash], false, true, true),
            (&["abort"], false, true, false),
            (&["abort", "--yes"], false, true, true),
        ] {
            let command = repair(words);
            let found =
                (command.limit(false).is_some(), command.is_change(), command.is_unattended());
            assert_eq!(found, (has_limit, is_change, is_unattended), "{words:?}");
            let by_variable = command.limit(true).is_some();
            assert_eq!(by_variable, has_limit || is_change, "{words:?}");
        }
    }

    #[test]
    fn context_of_another_cluster_is_refused() {
        let of_context = |uid: Option<&str>| ContextCluster {
            context: "prod".to_owned(),
            id: ResourceId::cluster("s", "g", "c").unwrap(),
            uid: uid.map(str::to_owned),
            has_server: false,
            is_protected: true,
        };
        let compare = |own, other| of_context(own).compare(other);
        assert!(compare(Some("1"), Some("1")).is_ok());
        assert!(compare(None, Some("1")).is_ok() && compare(Some("1"), None).is_ok());
        let refused = compare(Some("1"), Some("2")).unwrap_err();
        assert_eq!(refused.code(), "blocked");
        assert!(refused.text().starts_with("context prod and cluster "), "{}", refused.text());
        assert_eq!(of_context(None).protected(), Some("prod"));
        let id = of_context(None).id;
        assert_eq!(of_context(None).name().cluster.as_deref(), Some(id.as_str()));
    }
}
