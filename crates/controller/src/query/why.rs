//! Resolves a name and reports on the nodes that it refers to.

use jiff::{SignedDuration, Timestamp};
use mooring_arm::{Client, Error, ResourceId};
use mooring_nodes::claim::Claim;
use mooring_nodes::claim::intern::Interner;
use mooring_nodes::claim::object::ClaimFields;
use mooring_nodes::claim::scope::Scope;
use mooring_nodes::claim::vm_id::VmId;
use mooring_nodes::record::{self, RecordDocument, RecordError};
use mooring_nodes::unregistered::NodeFields;
use mooring_nodes::verdict::Verdict;
use mooring_nodes::verdict::condition::ConditionReason;
use mooring_nodes::verdict::failure::FailureSource;
use mooring_nodes::verdict::messages;
use mooring_nodes::verdict::registration::{
    AzureReading, ClusterState, NodeState, REGISTRATION_TIMEOUT, overdue, overdue_after_success,
};
use mooring_nodes::{NodeReport, ReportSource};
use serde_json::Value;

use crate::observation::Observation;
use crate::run::{Api, ApiError, Inspector, observe};
use crate::schedule::QueuePriority;
use crate::state::ReadTarget;
use crate::verdict::{evaluate, hints};

pub struct NodeQuery {
    /// None without access to the cluster.
    pub api: Option<Api>,
    pub arm: Client,
    pub scope: Scope,
    pub namespace: String,
    pub condition_type: String,
    pub now: Timestamp,
    /// Allows Run Command on a VM that reports nothing.
    pub run_command: bool,
    pub progress: fn(&str),
}

#[derive(Debug, thiserror::Error)]
pub enum QueryError {
    #[error("Kubernetes API request failed: {0}")]
    Kubernetes(#[from] ApiError),
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
    #[error(transparent)]
    Record(#[from] RecordError),
}

impl NodeQuery {
    /// Reports on what only Azure has under a name: an instance `POOL/INSTANCE`, a VM, or the instances of a pool.
    pub async fn in_azure(&self, what: &str) -> Result<Vec<NodeReport>, QueryError> {
        if let Some((pool, instance)) = what.split_once('/') {
            return self.instances(pool, Some(instance)).await;
        }
        if let Some(vm) = self.vm(what)
            && let Some(one) = self.of_vm(&vm, None, None, None).await?
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
        self.of_vm(&vm, None, pool, Some(true)).await
    }

    /// Reports on a NodeClaim; none if it does not exist.
    pub async fn claim_report(&self, name: &str) -> Result<Option<NodeReport>, QueryError> {
        match self.claim(name).await? {
            Some(claim) => self.of_claim(claim).await.map(Some),
            None => Ok(None),
        }
    }

    async fn get(&self, path: &str) -> Result<Option<Value>, QueryError> {
        let Some(api) = &self.api else { return Ok(None) };
        Ok(api.object(path).await?)
    }

    async fn record(&self) -> Result<RecordDocument, QueryError> {
        let object = self.get(&record::path(&self.namespace)).await?;
        Ok(RecordDocument::from_config_map(&object.unwrap_or_default())?)
    }

    fn project(&self, object: Value) -> Option<Claim> {
        let fields: ClaimFields = serde_json::from_value(object).ok()?;
        let mut claim = fields.project(&self.condition_type, &mut Interner::default()).ok()?;
        self.scope.confine(&mut claim);
        Some(claim)
    }

    async fn claim(&self, name: &str) -> Result<Option<Claim>, QueryError> {
        let path = format!("/apis/karpenter.sh/v1/nodeclaims/{name}");
        Ok(self.get(&path).await?.and_then(|object| self.project(object)))
    }

    async fn of_claim(&self, claim: Claim) -> Result<NodeReport, QueryError> {
        if let Some(vm) = &claim.vm
            && let Some(report) = self.of_vm(vm, Some(&claim), None, None).await?
        {
            return Ok(report);
        }
        if let Some(machine) = &claim.machine {
            let observation =
                observe(&self.arm, &ReadTarget::Machine(machine.clone()), QueuePriority::Trigger)
                    .await;
            if let Some(verdict) = evaluate(&claim, &observation, self.now).verdict() {
                return Ok(of(&claim, verdict, ReportSource::Azure));
            }
        }
        let record = self.record().await?;
        if let Some(entry) = record.entries().find(|entry| *entry.uid == *claim.uid) {
            return Ok(NodeReport::recorded(entry));
        }
        let reason = match (claim.scope_violation, &claim.vm) {
            (Some(outside), _) => self.scope.reason(outside),
            (None, Some(_)) => messages::VM_GONE.to_owned(),
            (None, None) => "Karpenter has not launched a VM for this NodeClaim yet.".to_owned(),
        };
        Ok(of(&claim, Verdict::unavailable(reason), ReportSource::Azure))
    }

    async fn of_vm(
        &self,
        vm: &VmId,
        claim: Option<&Claim>,
        pool: Option<&str>,
        joined: Option<bool>,
    ) -> Result<Option<NodeReport>, QueryError> {
        let observation =
            observe(&self.arm, &ReadTarget::Vm(vm.clone()), QueuePriority::Trigger).await;
        if observation == Observation::Missing {
            return Ok(None);
        }
        let placeholder = self.placeholder(&vm.name, Some(vm.clone()), pool, joined);
        let claim = claim.unwrap_or(&placeholder);
        let mut report = self.evaluate_observation(claim, &observation)?;
        if let Some(verdict) = self.unregistered(claim, &observation, report.verdict.reason).await {
            report.verdict = verdict;
        }
        self.read_node_report(
            &ResourceId::parse(&vm.path()).map_err(Error::from)?,
            claim,
            &mut report,
        )
        .await?;
        if report.joined.is_none() || claim.uid.is_empty() {
            report.joined = match joined {
                Some(joined) => Some(joined),
                None => self.has_joined(&vm.name).await?,
            };
        }
        Ok(Some(report))
    }

    /// Returns true if a Node exists; none without access to the cluster.
    pub(super) async fn has_joined(&self, node: &str) -> Result<Option<bool>, QueryError> {
        let found = self.get(&format!("/api/v1/nodes/{node}")).await?;
        Ok(self.api.as_ref().map(|_| found.is_some()))
    }

    /// Returns the verdict on a NodeClaim that is overdue, if it is.
    async fn unregistered(
        &self,
        claim: &Claim,
        observation: &Observation,
        reason: ConditionReason,
    ) -> Option<Verdict> {
        let Observation::Vm(vm) = observation else { return None };
        let overdue = match reason {
            _ if claim.uid.is_empty() => None,
            ConditionReason::NoCseExtension
            | ConditionReason::CseNotCreated
            | ConditionReason::CseRunning => overdue(claim, None, self.now),
            ConditionReason::CseSucceeded => {
                overdue_after_success(claim, None, REGISTRATION_TIMEOUT, self.now)
            }
            _ => None,
        };
        let (api, overdue) = (self.api.clone()?, overdue?);
        let name = claim.node_name();
        let node = match self.get(&format!("/api/v1/nodes/{name}")).await {
            Ok(Some(node)) => serde_json::from_value(node)
                .map_or(NodeState::Unknown, |node: NodeFields| node.state()),
            Ok(None) => NodeState::Absent,
            Err(_) => NodeState::Unknown,
        };
        let cluster = ClusterState { node, request: Inspector::new(api).inspect(&name).await };
        let joined = overdue.is_alive && cluster.node == NodeState::Ready;
        let azure = AzureReading::Vm(vm.state());
        (!joined).then(|| Verdict::not_registered(claim, azure, cluster, overdue))
    }

    /// Returns a placeholder for a node without a NodeClaim, launched long ago.
    pub(super) fn placeholder(
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
    pub(super) fn evaluate_observation(
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
        Ok(of(claim, verdict, ReportSource::Azure))
    }

    /// Reads the report on the node with a Run Command, if allowed and if Azure shows nothing.
    pub(super) async fn read_node_report(
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

fn of(claim: &Claim, verdict: Verdict, source: ReportSource) -> NodeReport {
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
        source,
        earlier: None,
    }
}
