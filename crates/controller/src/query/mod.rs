//! What only Azure knows of the nodes of a cluster that a command read: why a node did not join.
//!
//! It uses the observations and verdicts of the controller, for a NodeClaim, or for the name of a VM, a pool or a
//! pool instance.

mod command;

use std::collections::HashSet;

use jiff::{SignedDuration, Timestamp};
use mooring_arm::calls::{ScaleSet, Vm};
use mooring_arm::{Client, Error, ResourceId};
use mooring_nodes::claim::Claim;
use mooring_nodes::claim::scope::Scope;
use mooring_nodes::claim::vm_id::{Interner, VmId};
use mooring_nodes::verdict::registration::{
    AzureReading, ClusterState, NodeState, REGISTRATION_TIMEOUT, overdue, overdue_after_success,
};
use mooring_nodes::verdict::{ConditionReason, FailureSource, Verdict, messages};
use mooring_nodes::{Node, NodeReport, ReportSource};

use crate::observation::{Observation, VmObservation};
use crate::run::{Api, Inspector, observe};
use crate::schedule::QueuePriority;
use crate::state::ReadTarget;
use crate::verdict::{evaluate, hints};

pub use command::NodeShell;

/// Asks Azure about nodes of a cluster that was read.
pub struct NodeQuery {
    pub api: Api,
    /// Names of all Nodes.
    pub nodes: HashSet<String>,
    pub arm: Client,
    pub scope: Scope,
    pub now: Timestamp,
    /// Allows Run Command on a VM that reports nothing.
    pub run_command: bool,
    pub progress: fn(&str),
}

#[derive(Debug, thiserror::Error)]
pub enum QueryError {
    #[error("Azure request failed: {0}")]
    Azure(#[from] Error),
    #[error(
        "cannot read VM {0}: access denied\nhint: `mooring why` requires the Reader role on the node resource group"
    )]
    VmDenied(String),
    #[error("cannot read VM {0}: Azure is throttling requests\nhint: try again in a few minutes")]
    VmThrottled(String),
    #[error("cannot read VM {0}: {1}")]
    VmUnreadable(String, &'static str),
    #[error("Run Command on {node} failed: {why}\nhint: {hint}")]
    Command { node: String, why: String, hint: &'static str },
    #[error(
        "the providerID of node {0:?} names an instance outside the node resource group {1}; it is not read\nhint: set --node-resource-group to the node resource group of this cluster"
    )]
    OutOfScope(String, String),
}

impl NodeQuery {
    /// Reports on what only Azure has under a name: an instance `POOL/INSTANCE`, a VM, or the instances of a pool.
    pub async fn in_azure(&self, what: &str) -> Result<Vec<NodeReport>, QueryError> {
        if let Some((pool, instance)) = what.split_once('/') {
            return self.instances(pool, Some(instance)).await;
        }
        if let Some(vm) = self.vm(what)
            && let Some(one) = self.of_vm(&vm, None, None).await?
        {
            return Ok(vec![one]);
        }
        self.instances(what, None).await
    }

    /// Reports on a Node by the resource id of its VM.
    pub async fn node_report(
        &self,
        name: &str,
        id: &str,
        pool: Option<&str>,
    ) -> Result<Option<NodeReport>, QueryError> {
        let id = ResourceId::parse(id).map_err(Error::from)?;
        let group = id.resource_group().unwrap_or_default();
        if !self.scope.contains_group(id.subscription(), group) {
            let group = self.scope.node_resource_group.clone();
            return Err(QueryError::OutOfScope(name.to_owned(), group));
        }
        if id.kind().to_ascii_lowercase().contains("virtualmachinescalesets/") {
            return Ok(Some(self.instance(&id, pool, Some(true)).await?));
        }
        let Some(vm) = VmId::parse(id.as_str(), &mut Interner::default()) else { return Ok(None) };
        self.of_vm(&vm, pool, Some(true)).await
    }

    /// Reports on a NodeClaim that was read; none if its VM is gone and its failure is known.
    pub async fn claim_report(&self, node: &Node) -> Result<Option<NodeReport>, QueryError> {
        let Some(claim) = &node.claim else { return Ok(None) };
        let mut claim = Claim::clone(claim);
        self.scope.confine(&mut claim);
        if let Some(vm) = &claim.vm
            && let Some(observation) = self.observe(vm).await
        {
            let mut report = self.evaluate_observation(&claim, &observation)?;
            let reason = report.verdict.reason;
            let overdue = self.unregistered(&claim, node.node_state, &observation, reason).await;
            report.verdict = overdue.unwrap_or(report.verdict);
            self.read_node_report(&id_of(vm)?, &claim, &mut report).await?;
            return Ok(Some(report));
        }
        if let Some(machine) = &claim.machine {
            let machine = ReadTarget::Machine(machine.clone());
            let observation = observe(&self.arm, &machine, QueuePriority::Trigger).await;
            if let Some(verdict) = evaluate(&claim, &observation, self.now).verdict() {
                return Ok(Some(of(&claim, verdict)));
            }
        }
        if node.failure.as_ref().is_some_and(|failure| failure.owner.is_some()) {
            return Ok(None);
        }
        let reason = match (claim.scope_violation, &claim.vm) {
            (Some(outside), _) => self.scope.reason(outside),
            (None, Some(_)) => messages::VM_GONE.to_owned(),
            (None, None) => "Karpenter has not launched a VM for this NodeClaim yet.".to_owned(),
        };
        Ok(Some(of(&claim, Verdict::unavailable(reason))))
    }

    /// Returns a VM; none if it does not exist.
    async fn observe(&self, vm: &VmId) -> Option<Observation> {
        let vm = ReadTarget::Vm(vm.clone());
        let observation = observe(&self.arm, &vm, QueuePriority::Trigger).await;
        (observation != Observation::Missing).then_some(observation)
    }

    /// Reports on a VM without a NodeClaim.
    async fn of_vm(
        &self,
        vm: &VmId,
        pool: Option<&str>,
        joined: Option<bool>,
    ) -> Result<Option<NodeReport>, QueryError> {
        let Some(observation) = self.observe(vm).await else { return Ok(None) };
        let claim = self.placeholder(&vm.name, Some(vm.clone()), pool, joined);
        let mut report = self.evaluate_observation(&claim, &observation)?;
        self.read_node_report(&id_of(vm)?, &claim, &mut report).await?;
        report.joined = joined.or_else(|| Some(self.nodes.contains(&*vm.name)));
        Ok(Some(report))
    }

    /// Returns the verdict on a NodeClaim that is overdue, if it is.
    async fn unregistered(
        &self,
        claim: &Claim,
        node: NodeState,
        observation: &Observation,
        reason: ConditionReason,
    ) -> Option<Verdict> {
        let Observation::Vm(vm) = observation else { return None };
        let overdue = match reason {
            ConditionReason::NoCseExtension
            | ConditionReason::CseNotCreated
            | ConditionReason::CseRunning => overdue(claim, None, self.now),
            ConditionReason::CseSucceeded => {
                overdue_after_success(claim, None, REGISTRATION_TIMEOUT, self.now)
            }
            _ => None,
        };
        let overdue = overdue?;
        let request = Inspector::new(self.api.clone()).inspect(&claim.node_name()).await;
        let cluster = ClusterState { node, request };
        let joined = overdue.is_alive && cluster.node == NodeState::Ready;
        let azure = AzureReading::Vm(vm.state());
        (!joined).then(|| Verdict::not_registered(claim, azure, cluster, overdue))
    }

    /// Returns a placeholder for a node without a NodeClaim, launched long ago.
    fn placeholder(
        &self,
        name: &str,
        vm: Option<VmId>,
        pool: Option<&str>,
        joined: Option<bool>,
    ) -> Claim {
        let long_ago = self.now.saturating_sub(SignedDuration::from_hours(1)).unwrap_or(self.now);
        let claim = Claim::placeholder(&std::sync::Arc::from(""), name, vm, pool, long_ago);
        Claim { registered: joined.filter(|joined| *joined).map(|_| long_ago), ..claim }
    }

    fn vm(&self, name: &str) -> Option<VmId> {
        let id = format!(
            "/subscriptions/{}/resourceGroups/{}/virtualMachines/{name}",
            self.scope.subscription, self.scope.node_resource_group
        );
        VmId::parse(&id, &mut Interner::default())
    }

    /// Evaluates an observation, or returns why it cannot be evaluated.
    fn evaluate_observation(
        &self,
        claim: &Claim,
        observation: &Observation,
    ) -> Result<NodeReport, QueryError> {
        let verdict = match (evaluate(claim, observation, self.now).verdict(), observation) {
            (_, Observation::Denied { .. }) => return Err(QueryError::VmDenied(claim.node_name())),
            (Some(verdict), _) => verdict,
            (None, Observation::Throttled { .. }) => {
                return Err(QueryError::VmThrottled(claim.node_name()));
            }
            (None, Observation::Unreadable { what }) => {
                return Err(QueryError::VmUnreadable(claim.node_name(), what));
            }
            (None, _) => Verdict::plain(
                ConditionReason::CseRunning,
                "The VM is not ready for its bootstrap yet.",
            ),
        };
        Ok(of(claim, verdict))
    }

    /// Reads the report on the node with a Run Command, if allowed and if Azure shows nothing.
    async fn read_node_report(
        &self,
        vm: &ResourceId,
        claim: &Claim,
        report: &mut NodeReport,
    ) -> Result<(), QueryError> {
        let reason = report.verdict.reason;
        if !self.run_command
            || report.cse_succeeded
            || !matches!(
                reason,
                ConditionReason::NoCseExtension | ConditionReason::NodeNotRegistered
            )
        {
            return Ok(());
        }
        let [earlier, latest] = self.read_reports(vm, &claim.node_name()).await?;
        let hints = hints(claim, None);
        report.source = ReportSource::Node;
        report.earlier = earlier
            .diagnose(hints)
            .and_then(|found| Verdict::failed(&found, FailureSource::InstanceView).failure);
        let verdict = match latest.diagnose(hints) {
            None => Verdict::plain(ConditionReason::NoCseExtension, messages::NO_REPORT_ON_NODE),
            Some(found) if found.outcome == mooring_diagnosis::BootstrapOutcome::Succeeded => {
                Verdict::succeeded()
            }
            Some(found) => Verdict::failed(&found, FailureSource::InstanceView),
        };
        report.verdict = Verdict { at: mooring_trace::ended_at(&latest.text), ..verdict };
        Ok(())
    }
}

fn id_of(vm: &VmId) -> Result<ResourceId, QueryError> {
    Ok(ResourceId::parse(&vm.path()).map_err(Error::from)?)
}

fn of(claim: &Claim, verdict: Verdict) -> NodeReport {
    let real = !claim.uid.is_empty();
    NodeReport {
        node: if real {
            claim.node_name()
        } else {
            claim.vm.as_ref().map_or_else(|| claim.name.to_string(), |vm| vm.name.to_string())
        },
        claim: real.then(|| claim.name.to_string()),
        pool: claim.pool.as_deref().map(str::to_owned),
        image: claim.image_key(),
        joined: real.then_some(claim.registered.is_some()),
        cse_succeeded: verdict.reason == ConditionReason::CseSucceeded,
        verdict,
        source: ReportSource::Azure,
        earlier: None,
    }
}

const POOL: &str = "aks-managed-poolName";

impl NodeQuery {
    /// Returns all instances of a pool, or the one with this number or host name. None if the pool does not exist.
    pub async fn instances(
        &self,
        pool: &str,
        instance: Option<&str>,
    ) -> Result<Vec<NodeReport>, QueryError> {
        let mut reports = Vec::new();
        let Scope { subscription, node_resource_group, .. } = &self.scope;
        for set in self.arm.scale_sets::<ScaleSet>(subscription, node_resource_group).await? {
            let own = set.tags.get(POOL).is_some_and(|name| name == pool);
            // A node's name begins with the name of its scale set.
            let holds =
                instance.is_none() && !set.name.is_empty() && pool.starts_with(set.name.as_str());
            let Some(id) = set.id.clone().filter(|_| own || holds) else { continue };
            let pool_name = set.tags.get(POOL).map(String::as_str);
            for one in self.arm.scale_set_vms::<Vm>(&id).await? {
                let host = host(&one);
                let number = one.instance_id.as_deref();
                let wanted = match instance {
                    Some(wanted) => number == Some(wanted) || host == wanted,
                    None => own || host == pool,
                };
                if wanted {
                    let joined = Some(self.nodes.contains(&host));
                    reports.push(self.of_instance(&one, pool_name, joined).await?);
                }
            }
        }
        Ok(reports)
    }

    /// Returns one instance by its id, which is in scope.
    async fn instance(
        &self,
        id: &ResourceId,
        pool: Option<&str>,
        joined: Option<bool>,
    ) -> Result<NodeReport, QueryError> {
        let one = self.arm.vm(id).await?;
        self.of_instance(&one, pool, joined).await
    }

    async fn of_instance(
        &self,
        instance: &Vm,
        pool: Option<&str>,
        joined: Option<bool>,
    ) -> Result<NodeReport, QueryError> {
        let placeholder = self.placeholder(&host(instance), None, pool, joined);
        let image = instance.properties.storage_profile.as_ref();
        let image = image.and_then(|profile| profile.image_reference.as_ref());
        let image = image.and_then(|image| {
            image.id.clone().or_else(|| image.community_gallery_image_id.clone())
        });
        let claim = Claim { image: image.map(|image| image.as_str().into()), ..placeholder };
        let observation = Observation::Vm(VmObservation::of(instance));
        let mut report = self.evaluate_observation(&claim, &observation)?;
        report.joined = joined;
        if let Some(id) = &instance.id {
            self.read_node_report(id, &claim, &mut report).await?;
        }
        Ok(report)
    }
}

fn host(instance: &Vm) -> String {
    let profile = instance.properties.os_profile.as_ref();
    let host = profile.and_then(|profile| profile.computer_name.clone());
    host.unwrap_or_else(|| instance.name.clone())
}
