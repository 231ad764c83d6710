//! The sources of a bundle: the cluster with its failure record, and Azure.

use std::time::Duration;

use jiff::Timestamp;
use mooring_arm::{Client, Limits, ResourceId};
use mooring_controller::record::{Document, Entry};
use mooring_controller::run::Api;
use mooring_controller::{Scope, Settings};

use super::NodeArguments;
use super::objects::{Objects, Wanted};
use crate::cluster::{self, Facts, wait};
use crate::cluster_args::AzureMode;
use crate::failure::Failure;
use crate::{connect, suggest};

/// Without an answer, a file is left out.
const AZURE_LIMIT: Duration = Duration::from_secs(10);

/// Reads of Azure, confined to the node resource group.
pub(super) struct Azure {
    pub(super) arm: Client,
    pub(super) scope: Scope,
    /// ARM id of the cluster, if it is known.
    pub(super) cluster: Option<String>,
}

pub(super) struct Sources<'a> {
    pub(super) wanted: Wanted<'a>,
    pub(super) arguments: &'a NodeArguments,
    pub(super) facts: Option<Facts>,
    pub(super) api: Option<Api>,
    /// Why the cluster was not read.
    pub(super) no_cluster: Option<String>,
    pub(super) objects: Objects,
    /// Azure, or why it was not read.
    pub(super) azure: Result<Azure, String>,
    pub(super) now: Timestamp,
}

impl<'a> Sources<'a> {
    /// Reads the cluster, and prepares Azure. `results` decides whether Azure is read for the nodes of the whole cluster.
    pub(super) async fn open(
        name: &'a str,
        arguments: &'a NodeArguments,
        results: AzureMode,
    ) -> Result<Self, Failure> {
        let wanted = Wanted::new(name);
        let mut sources = Self {
            wanted,
            arguments,
            facts: None,
            api: None,
            no_cluster: None,
            objects: Objects::default(),
            azure: Err("Azure was not asked (--azure never)".to_owned()),
            now: Timestamp::now(),
        };
        if let Err(failure) = sources.read_cluster(results).await {
            // Azure may still have the VM.
            if arguments.azure == AzureMode::Never {
                return Err(failure);
            }
            let text = failure.text().lines().next().unwrap_or_default();
            sources.no_cluster = Some(format!("the cluster was not read: {text}"));
        }
        if arguments.azure != AzureMode::Never {
            let opening = wait(
                "waiting for Azure",
                AZURE_LIMIT,
                "continuing without it",
                sources.open_azure(),
            );
            let late = || Err(Failure::io("Azure did not respond within 10s".to_owned()));
            match opening.await.unwrap_or_else(late) {
                Ok(azure) => sources.azure = Ok(azure),
                Err(failure) if arguments.azure == AzureMode::Always => return Err(failure),
                Err(failure) => {
                    let text = failure.text().lines().next().unwrap_or_default();
                    sources.azure = Err(format!("Azure was not read: {text}"));
                }
            }
        }
        if let (Some(why), Err(_)) = (&sources.no_cluster, &sources.azure) {
            let hint = "hint: set `--context NAME`, `--kubeconfig FILE` or KUBECONFIG";
            return Err(Failure::io(format!("{why}\n{hint}")));
        }
        Ok(sources)
    }

    async fn read_cluster(&mut self, results: AzureMode) -> Result<(), Failure> {
        self.facts = Some(cluster::read(&self.arguments.to_read(results)).await?);
        let connection = connect::connect_cluster(&self.arguments.cluster).await?;
        let api = Api::new(connection.client);
        self.objects = Objects::read(&api, self.wanted).await;
        self.api = Some(api);
        Ok(())
    }

    async fn open_azure(&self) -> Result<Azure, Failure> {
        let cluster = &self.arguments.cluster;
        let limit = match self.arguments.azure {
            AzureMode::Always => self.arguments.timeout,
            _ => AZURE_LIMIT,
        };
        let arm = connect::azure_client(cluster.arm_endpoint.as_ref(), Limits::default())?;
        let arm = arm.within(limit);
        let scope = match &self.objects.scope {
            Some(scope) => scope.clone(),
            None => connect::read_scope(&arm, cluster).await?,
        };
        let found = self.facts.as_ref().and_then(|facts| facts.identity.id.clone());
        let named = || connect::named_cluster(&cluster.name, None).id();
        let cluster = found.or_else(|| named().map(|id| id.as_str().to_owned()));
        Ok(Azure { arm, scope, cluster })
    }

    /// Returns the failures of nodes with the name, and of the named nodes.
    pub(super) fn entries(&self) -> impl Iterator<Item = &Entry> {
        let record = self.facts.as_ref().and_then(|facts| facts.record.as_ref());
        record.into_iter().flat_map(Document::entries)
    }

    pub(super) fn namespace(&self) -> String {
        let found = self.facts.as_ref().map(|facts| facts.controller.namespace.clone());
        found.unwrap_or_else(|| crate::cluster::NAMESPACE.to_owned())
    }

    pub(super) fn condition_type() -> String {
        Settings::default().condition_type
    }

    /// Returns why an object of the cluster is not known.
    pub(super) fn missing(&self, why: &str, unread: Option<&String>) -> String {
        self.no_cluster.as_ref().or(unread).cloned().unwrap_or_else(|| why.to_owned())
    }

    pub(super) fn unknown_name(&self, command: &str) -> Failure {
        let claims = self.objects.claims.iter().map(|claim| claim.name.as_str());
        let nodes = self.objects.nodes.iter().map(|node| node.name.as_str());
        let recorded = self.entries().map(|entry| entry.node_claim.as_str());
        let name = self.wanted.name;
        let hint = suggest::hint(name, claims.chain(nodes).chain(recorded), command);
        let hint = hint.unwrap_or_else(|| {
            "hint: `kubectl get nodeclaims,nodes` and `mooring fleet` list names; use POOL/INSTANCE for an instance of a pool".to_owned()
        });
        let unread = match (&self.no_cluster, &self.azure) {
            (Some(why), _) | (None, Err(why)) => format!(" ({why})"),
            (None, Ok(_)) => String::new(),
        };
        let name = mooring_redact::identifier(name);
        Failure::unknown_name(format!(
            "no NodeClaim, node, VM or recorded failure is named `{name}`{unread}\n{hint}"
        ))
    }
}

impl Azure {
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
