//! The cluster of `--context`: found from its nodes, and proven by the uid of `kube-system`.

use mooring_arm::{Limits, ResourceId};
use mooring_controller::run::Api;
use mooring_repair::runtime::Operator;

use super::arguments::{RepairCommand, TargetArguments};
use crate::cluster::{NodesCluster, conflict, find_cluster};
use crate::failure::Failure;
use crate::runs::{build_runtime, env_var};
use crate::{config, connect, show};

/// The AKS cluster of a context.
pub(crate) struct ContextCluster {
    context: String,
    id: ResourceId,
    uid: Option<String>,
    is_protected: bool,
}

impl ContextCluster {
    /// Finds the cluster of `--context` or `MOORING_CONTEXT`; none without them. The current context is never used.
    pub(super) fn find(target: &TargetArguments) -> Result<Option<Self>, Failure> {
        let context = target.context.clone().or_else(|| env_var("MOORING_CONTEXT"));
        let Some(context) = context.filter(|context| !context.is_empty()) else { return Ok(None) };
        build_runtime()?.block_on(find(target, context)).map(Some)
    }

    /// Returns a variable: parts of the cluster, then the environment.
    pub(super) fn variable(context: Option<&Self>, name: &str) -> Option<String> {
        let part = |id: &ResourceId| match name {
            "SUBSCRIPTION_ID" => Some(id.subscription().to_owned()),
            "RESOURCE_GROUP" => id.resource_group().map(str::to_owned),
            "CLUSTER_NAME" => Some(id.name().to_owned()),
            _ => None,
        };
        context.and_then(|context| part(&context.id)).or_else(|| env_var(name))
    }

    /// Ensures that a change of a protected context is confirmed on a terminal.
    pub(super) fn ensure_unprotected(context: Option<&Self>, yes: bool) -> Result<(), Failure> {
        match context {
            Some(context) if yes && context.is_protected => Err(protected(&context.context)),
            _ => Ok(()),
        }
    }

    /// Compares the API server of the context with that of the cluster in Azure.
    pub(super) async fn prove(&self, operator: &mut Operator) -> Result<(), Failure> {
        let by_azure = operator.identity().await.uid;
        match (&self.uid, by_azure) {
            (Some(own), Some(other)) if *own != other => Err(Failure::blocked(format!(
                "context {} and cluster {} are two clusters: the uids of kube-system differ\nhint: `az aks get-credentials` writes the context again",
                self.context, self.id
            ))),
            (Some(_), Some(_)) => Ok(()),
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

/// Returns the error of a change that a protected context does not allow.
pub(crate) fn protected(context: &str) -> Failure {
    Failure::blocked(format!(
        "context {context} is protected: a plan hash is not enough\nhint: run the command without --yes on a terminal and type the name"
    ))
}

async fn find(target: &TargetArguments, context: String) -> Result<ContextCluster, Failure> {
    let connection = connect::connect_kube(target.kubeconfig.as_deref(), Some(&context)).await?;
    let entry = config::context(Some(&context))?;
    let nodes = NodesCluster::read(&Api::new(connection.client)).await?;
    let arm = connect::azure_client(None, Limits::default())?;
    let found = match &nodes.scope {
        Some(scope) => {
            let found = find_cluster(&arm, scope).await;
            found.map_err(|error| Failure::azure(&error))?.map(|found| found.id)
        }
        None => None,
    };
    let id = found.or_else(|| entry.cluster_id()).ok_or_else(|| {
        Failure::io(format!(
            "the AKS cluster of context {context} was not found from its nodes\nhint: pass --subscription, --resource-group and --cluster"
        ))
    })?;
    let named = connect::named_cluster(&target.name, None);
    if named.differs(&id) {
        return Err(Failure::blocked(format!(
            "two clusters: {}\nhint: pass only --context, or unset the variables",
            conflict(&named, &id)
        )));
    }
    Ok(ContextCluster { context, id, uid: nodes.uid, is_protected: entry.protected })
}

impl RepairCommand {
    pub(crate) fn target(&self) -> &TargetArguments {
        match self {
            Self::Detect { target, .. }
            | Self::Plan { target, .. }
            | Self::Apply { target, .. }
            | Self::Resume { target, .. }
            | Self::Status { target, .. }
            | Self::Abort { target, .. } => target,
        }
    }

    /// Returns true for a change that is not confirmed on a terminal.
    pub(crate) fn is_unattended(&self) -> bool {
        match self {
            Self::Apply { approval, .. } => approval.yes,
            Self::Resume { yes, .. } | Self::Abort { yes, .. } => *yes,
            Self::Detect { .. } | Self::Plan { .. } | Self::Status { .. } => false,
        }
    }
}
