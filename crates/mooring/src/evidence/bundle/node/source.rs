//! The sources of a bundle: the cluster with its failure record, and Azure.

use std::sync::OnceLock;

use jiff::Timestamp;
use mooring_arm::{BudgetLimits, Client, Error, ErrorKind, ResourceId};
use mooring_controller::run::ApiError;
use mooring_nodes::ClusterFacts;
use mooring_nodes::Scope;
use mooring_nodes::record::{FailureRecord, RecordDocument};
use mooring_workflow::published::{Source, SourceName, SourceState, is_partial};
use serde_json::Value;

use crate::answers::why_document;
use crate::arguments::{AzureMode, SourceArguments};
use crate::cluster::connect;
use crate::cluster::{AzureLimit, ConnectedCluster, VmRequest, read_cluster};
use crate::output::failure::CommandFailure;
use mooring_terminal::suggest;

/// Reads of Azure, confined to the node resource group.
pub(super) struct Azure {
    pub(super) arm: Client,
    pub(super) scope: Scope,
    /// ARM id of the cluster, if it is known.
    pub(super) cluster: Option<String>,
    /// Why something was not read.
    failed: OnceLock<String>,
    /// Limit of all files together; each has that of `arm`.
    limit: AzureLimit,
}

pub(super) struct Sources<'a> {
    /// The name of the command line: of a node, a pool, or an instance of a pool.
    pub(super) name: &'a str,
    pub(super) arguments: &'a SourceArguments,
    /// The cluster, or why it was not read.
    pub(super) cluster: Result<ConnectedCluster, String>,
    /// The document of `mooring why`, or why there is none.
    pub(super) why: Result<Value, String>,
    /// Why something of the cluster was not read.
    failed: OnceLock<String>,
    /// Azure, or why it was not read.
    pub(super) azure: Result<Azure, String>,
    pub(super) now: Timestamp,
}

impl<'a> Sources<'a> {
    /// Reads the cluster, and prepares Azure. `results` decides whether Azure is read for `why` and for the nodes of the
    /// whole cluster.
    pub(super) async fn open(
        name: &'a str,
        arguments: &'a SourceArguments,
        results: AzureMode,
    ) -> Result<Self, CommandFailure> {
        let mut sources = Self {
            name,
            arguments,
            cluster: Err("the cluster was not read".to_owned()),
            why: Err("the cluster was not read".to_owned()),
            failed: OnceLock::new(),
            azure: Err("Azure was not asked (--azure never)".to_owned()),
            now: Timestamp::now(),
        };
        if let Err(failure) = sources.read_cluster(results).await {
            // Azure may still have the VM.
            if arguments.azure == AzureMode::Never {
                return Err(failure);
            }
            sources.cluster = Err(format!("the cluster was not read: {}", failure.first_line()));
        }
        if arguments.azure != AzureMode::Never {
            match sources.open_azure().await {
                Ok(azure) => sources.azure = Ok(azure),
                Err(failure) if arguments.azure == AzureMode::Always => return Err(failure),
                Err(failure) => {
                    sources.azure = Err(format!("Azure was not read: {}", failure.first_line()));
                }
            }
        }
        if let (Err(why), Err(_)) = (&sources.cluster, &sources.azure) {
            let hint = "hint: set `--context NAME`, `--kubeconfig FILE` or KUBECONFIG";
            return Err(CommandFailure::io(format!("{why}\n{hint}")));
        }
        Ok(sources)
    }

    async fn read_cluster(&mut self, results: AzureMode) -> Result<(), CommandFailure> {
        let arguments = SourceArguments { azure: results, ..self.arguments.clone() };
        let mut cluster = read_cluster(&arguments).await?;
        let why = why_document(self.name, arguments.clone(), &mut cluster).await;
        self.why = why.map_err(|failure| failure.first_line());
        // Azure is not waited for twice.
        if cluster.facts.source_state(SourceName::Azure) != SourceState::Failed {
            let request = VmRequest::unknown(&cluster.facts.inventory.nodes);
            cluster.ask_azure(&arguments, &request).await?;
        }
        self.cluster = Ok(cluster);
        Ok(())
    }

    pub(super) fn facts(&self) -> Result<&ClusterFacts, &String> {
        self.cluster.as_ref().map(|cluster| &cluster.facts)
    }

    /// Returns false if the cluster has no NodePools.
    pub(super) fn has_karpenter(&self) -> bool {
        let state = |facts: &ClusterFacts| facts.source_state(SourceName::Karpenter);
        self.facts().map(state) != Ok(SourceState::Absent)
    }

    /// Returns the sources of a document. Files of Azure are read even if the cluster needs nothing of it.
    pub(super) fn published(&self) -> Vec<Source> {
        let mut sources = match self.facts() {
            Ok(facts) => facts.sources.clone(),
            Err(why) => vec![
                Source::failed(SourceName::Cluster, why),
                Source::new(SourceName::Record),
                Source::new(SourceName::Azure),
            ],
        };
        let of_controller = self.facts().ok().and_then(|facts| facts.controller.error.as_ref());
        let of_controller = of_controller.map(|why| format!("the controller was not read: {why}"));
        for source in &mut sources {
            let is_unasked = source.state == SourceState::NotAsked;
            let failed = match (source.name, &self.azure) {
                (SourceName::Cluster, _) => self.failed.get().or(of_controller.as_ref()),
                (SourceName::Azure, Ok(azure)) => {
                    if is_unasked {
                        (source.state, source.at) = (SourceState::Read, Some(self.now));
                    }
                    azure.failed.get()
                }
                (SourceName::Azure, Err(why)) => {
                    Some(why).filter(|_| is_unasked && self.arguments.azure != AzureMode::Never)
                }
                _ => None,
            };
            if let Some(why) = failed.filter(|_| source.state != SourceState::Failed) {
                (source.state, source.error) = (SourceState::Failed, Some(why.clone()));
            }
        }
        sources
    }

    /// Reads an object, or returns why it cannot be read.
    pub(super) async fn get(&self, path: &str) -> Result<Value, String> {
        let text = self.get_text(path).await?;
        serde_json::from_str(&text).map_err(|_| "the response is not valid JSON".to_owned())
    }

    pub(super) async fn get_text(&self, path: &str) -> Result<String, String> {
        let cluster = self.cluster.as_ref().map_err(Clone::clone)?;
        cluster.api.get(path).await.map_err(|error| {
            let why = reason_of_cluster(&error);
            if error.status != Some(404) {
                self.fail(format!("{path}: {why}"));
            }
            why
        })
    }

    /// Keeps why something of the cluster was not read.
    pub(super) fn fail(&self, why: String) {
        let _ = self.failed.set(why);
    }

    async fn open_azure(&self) -> Result<Azure, CommandFailure> {
        let cluster = &self.arguments.cluster;
        let limit = AzureLimit::start(self.arguments);
        let arm = connect::azure_client(cluster.arm_endpoint.as_ref(), BudgetLimits::default())?;
        limit.sign_in(&arm).await?;
        let arm = limit.client(&arm);
        let scope = match self.cluster.as_ref().ok().and_then(|cluster| cluster.scope.as_ref()) {
            Some(scope) => scope.clone(),
            None => limit.read(connect::read_scope(&arm, cluster)).await??,
        };
        let found = self.facts().ok().and_then(|facts| facts.identity.id.clone());
        let named = || connect::named_cluster(&cluster.name, None).id();
        let cluster = found.or_else(|| named().map(|id| id.as_str().to_owned()));
        let limit = AzureLimit::start_optional(self.arguments.timeout);
        Ok(Azure { arm, scope, cluster, failed: OnceLock::new(), limit })
    }

    /// Returns the failures of nodes with the name, and of the named nodes.
    pub(super) fn entries(&self) -> impl Iterator<Item = &FailureRecord> {
        let record = self.facts().ok().and_then(|facts| facts.record.as_deref());
        record.into_iter().flat_map(RecordDocument::entries)
    }

    /// Returns why an object of the cluster is not known.
    pub(super) fn missing(&self, why: &str, unread: Option<&String>) -> String {
        self.facts().err().or(unread).cloned().unwrap_or_else(|| why.to_owned())
    }

    pub(super) fn unknown_name(&self, command: &str) -> CommandFailure {
        let nodes = self.facts().into_iter().flat_map(|facts| &facts.inventory.nodes);
        let known = nodes.flat_map(|node| [&node.node_claim, &node.node]).flatten();
        let name = self.name;
        let similar = suggest::hint(name, known.map(String::as_str), command);
        let is_typo = similar.is_some();
        let hint = similar.unwrap_or_else(|| {
            "hint: `kubectl get nodeclaims,nodes` and `mooring fleet` list names; use POOL/INSTANCE for an instance of a pool".to_owned()
        });
        let sources = self.published();
        let is_partial = is_partial(&sources);
        // Another source may have it.
        let nothing = if is_partial {
            "nothing that was read"
        } else {
            "no NodeClaim, node, VM or recorded failure"
        };
        let failed = sources.iter().find_map(|source| source.error.clone());
        let unread = match (&self.cluster, &self.azure) {
            (Err(why), _) => Some(why.clone()),
            (Ok(_), Err(why)) => Some(failed.unwrap_or_else(|| why.clone())),
            (Ok(_), Ok(_)) => failed,
        };
        let unread = unread.map(|why| format!(" ({why})")).unwrap_or_default();
        let is_absent = self.facts().is_ok_and(|facts| !facts.has_karpenter);
        let karpenter = if is_absent { "; Karpenter is not installed" } else { "" };
        let name = mooring_redact::identifier(name);
        let text = format!("{nothing} is named `{name}`{unread}{karpenter}\n{hint}");
        if is_partial && !is_typo {
            CommandFailure::io(text)
        } else {
            CommandFailure::unknown_name(text)
        }
    }
}

impl Azure {
    /// Awaits a read, or returns why no response arrived.
    pub(super) async fn read<T>(&self, work: impl Future<Output = T>) -> Result<T, String> {
        self.limit.read(work).await.map_err(|failure| self.fail(failure.text()))
    }

    /// Returns why something is left out, and keeps it unless that does not exist.
    pub(super) fn reason(&self, error: &Error) -> String {
        let why = reason_of_azure(error);
        if error.is_not_found() { why } else { self.fail(why) }
    }

    pub(super) fn fail(&self, why: String) -> String {
        let _ = self.failed.set(why.clone());
        why
    }

    /// Returns a VM of the node resource group.
    pub(super) fn vm_id(&self, name: &str) -> Option<ResourceId> {
        let Scope { subscription, node_resource_group, .. } = &self.scope;
        let kind = format!("virtualMachines/{name}");
        ResourceId::of(subscription, node_resource_group, "Microsoft.Compute", &kind).ok()
    }

    /// Returns the VM of a provider id, if it is in the node resource group: anyone who may write a Node can name another
    /// one.
    pub(super) fn own_vm(&self, provider_id: &str) -> Result<ResourceId, String> {
        let id = provider_id.strip_prefix("azure://").unwrap_or(provider_id);
        let id = ResourceId::parse(id).map_err(|_| "its providerID is not valid".to_owned())?;
        let group = id.resource_group().unwrap_or_default();
        if self.scope.contains_group(id.subscription(), group) {
            return Ok(id);
        }
        let group = &self.scope.node_resource_group;
        Err(format!("its providerID names a VM outside the node resource group {group}"))
    }
}

/// Returns why Azure does not have something.
pub(super) fn reason_of_azure(error: &Error) -> String {
    match &error.kind {
        ErrorKind::NotFound(_) => "not found in Azure".to_owned(),
        ErrorKind::Forbidden(refusal) => match refusal.missing_permission() {
            Some(missing) => format!("not permitted: {} is missing", missing.action),
            None => "not permitted".to_owned(),
        },
        ErrorKind::Unauthorized(_) => "not permitted: Azure does not accept the token".to_owned(),
        _ => format!("Azure was not read: {error}"),
    }
}

fn reason_of_cluster(error: &ApiError) -> String {
    match error.status {
        Some(403) => "not permitted".to_owned(),
        Some(404) => "not found".to_owned(),
        _ => format!("the Kubernetes API was not read: {}", error.what),
    }
}

#[cfg(test)]
mod tests {
    use mooring_arm::{AzureError, CallInfo, WriteStatus};

    use super::*;

    #[test]
    fn reasons_name_what_is_missing() {
        let azure = |kind| {
            let call = Box::new(CallInfo::default());
            reason_of_azure(&Error { kind, write_status: WriteStatus::NotApplied, call })
        };
        let refusal = AzureError::default;
        assert_eq!(azure(ErrorKind::NotFound(refusal())), "not found in Azure");
        assert_eq!(azure(ErrorKind::Forbidden(refusal())), "not permitted");
        let token = "not permitted: Azure does not accept the token";
        assert_eq!(azure(ErrorKind::Unauthorized(refusal())), token);
        assert!(azure(ErrorKind::BudgetFull).starts_with("Azure was not read: "));
        let error = |status| ApiError { status, what: "x".to_owned(), is_untrusted: false };
        let cluster = |status| reason_of_cluster(&error(status));
        assert_eq!(cluster(Some(403)), "not permitted");
        assert_eq!(cluster(Some(404)), "not found");
        assert_eq!(cluster(Some(500)), "the Kubernetes API was not read: x");
    }
}
