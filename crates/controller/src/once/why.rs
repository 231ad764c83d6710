//! From what a person names to what is told of it.

use jiff::{SignedDuration, Timestamp};
use mooring_arm::{Client, Error, ResourceId};
use serde_json::Value;

use super::fleet::Table;
use super::told::{From, NodeTold};
use crate::claim::Claim;
use crate::claim::intern::Interner;
use crate::claim::scope::Scope;
use crate::claim::vm_id::VmId;
use crate::observation::Observation;
use crate::observation::node;
use crate::record::legacy;
use crate::record::{self, Document, Unreadable};
use crate::run::{Api, Inspector, Refusal, observe};
use crate::schedule::Priority;
use crate::state::Target;
use crate::verdict::condition::Reason;
use crate::verdict::failure::Source;
use crate::verdict::registration::{
    AzureState, ClusterState, NodeState, REGISTRATION_LIMIT, VmState, overdue,
    overdue_after_success,
};
use crate::verdict::wording;
use crate::verdict::{Finding, Verdict, hints, judge};

pub struct Looker {
    /// The cluster's API, if there is a way to it.
    pub api: Option<Api>,
    pub arm: Client,
    pub scope: Scope,
    pub namespace: String,
    pub condition_type: String,
    pub now: Timestamp,
    /// Whether a command may be run on a VM that shows nothing.
    pub run_command: bool,
    /// Tells a person what is waited for.
    pub say: fn(&str),
}

#[derive(Debug, thiserror::Error)]
pub enum Failed {
    /// Nothing has this name.
    #[error(
        "nothing is called {0:?}: no NodeClaim, node, VM or pool, and no failure in the record\nhint: `kubectl get nodeclaims` and `mooring fleet` list what there is; POOL/INSTANCE names an instance of a pool"
    )]
    NotFound(String),
    #[error("the cluster's API: {0}")]
    Kubernetes(#[from] Refusal),
    #[error("Azure: {0}")]
    Azure(#[from] Error),
    /// Azure, for one VM.
    #[error(
        "{0} could not be read: {1}\nhint: `mooring why` needs the role Reader on the node resource group"
    )]
    Unread(String, &'static str),
    #[error("the command on {node}: {why}\nhint: {hint}")]
    Command { node: String, why: String, hint: &'static str },
    /// A Node names an instance that may not be read.
    #[error(
        "the providerID of node {0:?} names an instance outside the node resource group {1}; it is not read\nhint: `--node-resource-group` names the group of this cluster's nodes"
    )]
    Outside(String, String),
    #[error(transparent)]
    Record(#[from] Unreadable),
}

impl Looker {
    /// What is told of whatever has this name.
    pub async fn why(&self, what: &str) -> Result<Vec<NodeTold>, Failed> {
        if let Some((pool, instance)) = what.split_once('/') {
            let told = self.instances(pool, Some(instance)).await?;
            return if told.is_empty() { Err(Failed::NotFound(what.to_owned())) } else { Ok(told) };
        }
        let plain = |c: char| c.is_ascii_alphanumeric() || "-._".contains(c);
        if what.is_empty() || !what.chars().all(plain) {
            return Err(Failed::NotFound(what.to_owned()));
        }
        if let Some(claim) = self.claim(what).await? {
            return Ok(vec![self.of_claim(claim).await?]);
        }
        if let Some(told) = self.node(what).await? {
            return Ok(vec![told]);
        }
        let claims =
            self.claims(&format!("?labelSelector=karpenter.sh%2Fnodepool%3D{what}")).await?;
        let mut told = Vec::new();
        for claim in claims {
            told.push(self.of_claim(claim).await?);
        }
        if told.is_empty()
            && let Some(vm) = self.vm(what)
            && let Some(one) = self.of_vm(&vm, None, None, None).await?
        {
            told.push(one);
        }
        if told.is_empty() {
            told = self.instances(what, None).await?;
        }
        // A pool's failures of the past belong to what is told of it.
        let record = self.record().await?;
        let past = record.entries().filter(|entry| {
            let gone = told.iter().all(|one| one.claim.as_deref() != Some(&*entry.node_claim));
            gone && [&entry.node_claim, &entry.node, &entry.pool]
                .into_iter()
                .any(|name| name == what)
        });
        let past: Vec<NodeTold> = past.map(NodeTold::recorded).collect();
        told.extend(past);
        if told.is_empty() { Err(Failed::NotFound(what.to_owned())) } else { Ok(told) }
    }

    pub async fn fleet(&self) -> Result<Table, Failed> {
        Ok(Table::of(&self.record().await?, &self.claims("").await?))
    }

    /// How many failures the record of an earlier version has that the controller has not taken over; none if there is no
    /// such record, or it may not be read.
    pub async fn old_failures(&self) -> Option<usize> {
        if self.namespace == legacy::NAMESPACE || self.record().await.ok()?.taken_from.is_some() {
            return None;
        }
        let text = self.get(&record::path(legacy::NAMESPACE)).await.ok()??;
        let object = serde_json::from_str(&text).ok()?;
        Document::from_config_map(&object).ok().map(|record| record.entries().count())
    }

    pub(super) async fn get(&self, path: &str) -> Result<Option<String>, Failed> {
        let Some(api) = &self.api else { return Ok(None) };
        match api.get(path).await {
            Ok(text) => Ok(Some(text)),
            Err(refusal) if refusal.status == Some(404) => Ok(None),
            Err(refusal) => Err(refusal.into()),
        }
    }

    pub(super) async fn record(&self) -> Result<Document, Failed> {
        let Some(text) = self.get(&record::path(&self.namespace)).await? else {
            return Ok(Document::default());
        };
        Ok(Document::from_config_map(&serde_json::from_str(&text).unwrap_or_default())?)
    }

    fn project(&self, json: &str) -> Option<Claim> {
        let mut claim =
            Claim::from_json(json.as_bytes(), &self.condition_type, &mut Interner::default())
                .ok()?;
        self.scope.confine(&mut claim);
        Some(claim)
    }

    async fn claim(&self, name: &str) -> Result<Option<Claim>, Failed> {
        let path = format!("/apis/karpenter.sh/v1/nodeclaims/{name}");
        Ok(self.get(&path).await?.and_then(|text| self.project(&text)))
    }

    async fn claims(&self, query: &str) -> Result<Vec<Claim>, Failed> {
        let path = format!("/apis/karpenter.sh/v1/nodeclaims{query}");
        let Some(text) = self.get(&path).await? else { return Ok(Vec::new()) };
        let list: Value = serde_json::from_str(&text).unwrap_or_default();
        let items = list["items"].as_array().into_iter().flatten();
        Ok(items.filter_map(|item| self.project(&item.to_string())).collect())
    }

    async fn of_claim(&self, claim: Claim) -> Result<NodeTold, Failed> {
        let recorded = async |looker: &Self| {
            let record = looker.record().await?;
            let entry = record.entries().find(|entry| *entry.uid == *claim.uid);
            Ok::<_, Failed>(entry.map(NodeTold::recorded))
        };
        if let Some(vm) = &claim.vm
            && let Some(told) = self.of_vm(vm, Some(&claim), None, None).await?
        {
            return Ok(told);
        }
        if let Some(machine) = &claim.machine {
            let seen =
                observe(&self.arm, &Target::Machine(machine.clone()), Priority::Trigger).await;
            if let Finding::Final(verdict) | Finding::Passing(verdict) =
                judge(&claim, &seen, self.now)
            {
                return Ok(of(&claim, verdict, From::Azure));
            }
        }
        if let Some(told) = recorded(self).await? {
            return Ok(told);
        }
        let reason = match (claim.outside, &claim.vm) {
            (Some(outside), _) => self.scope.reason(outside),
            (None, Some(_)) => wording::VM_GONE.to_owned(),
            (None, None) => "Karpenter has not launched a VM for this claim yet.".to_owned(),
        };
        Ok(of(&claim, Verdict::unavailable(reason), From::Azure))
    }

    async fn node(&self, name: &str) -> Result<Option<NodeTold>, Failed> {
        let Some(text) = self.get(&format!("/api/v1/nodes/{name}")).await? else { return Ok(None) };
        let node: Value = serde_json::from_str(&text).unwrap_or_default();
        let id = node["spec"]["providerID"].as_str().unwrap_or_default();
        let id = id.strip_prefix("azure://").unwrap_or(id);
        let pool = node["metadata"]["labels"]["kubernetes.azure.com/agentpool"].as_str();
        let outside = || {
            let group = self.scope.node_resource_group.clone();
            Err(Failed::Outside(name.to_owned(), group))
        };
        if id.to_ascii_lowercase().contains("/virtualmachinescalesets/") {
            let id = ResourceId::parse(id).map_err(Error::from)?;
            let group = id.resource_group().unwrap_or_default();
            if !self.scope.contains_group(id.subscription(), group) {
                return outside();
            }
            return Ok(Some(self.instance(&id, pool, Some(true)).await?));
        }
        let Some(vm) = VmId::parse(id, &mut Interner::default()) else { return Ok(None) };
        if !self.scope.contains_vm(&vm) {
            return outside();
        }
        self.of_vm(&vm, None, pool, Some(true)).await
    }

    /// A single VM; none if there is no such VM.
    async fn of_vm(
        &self,
        vm: &VmId,
        claim: Option<&Claim>,
        pool: Option<&str>,
        joined: Option<bool>,
    ) -> Result<Option<NodeTold>, Failed> {
        let seen = observe(&self.arm, &Target::Vm(vm.clone()), Priority::Trigger).await;
        if seen == Observation::Missing {
            return Ok(None);
        }
        let stand_in = self.stand_in(&vm.name, Some(vm.clone()), pool, joined);
        let claim = claim.unwrap_or(&stand_in);
        let mut told = self.judged(claim, &seen)?;
        if let Some(verdict) = self.unregistered(claim, &seen, told.verdict.reason).await {
            told.verdict = verdict;
        }
        self.ask_node(&ResourceId::parse(&vm.path()).map_err(Error::from)?, claim, &mut told)
            .await?;
        if told.joined.is_none() || claim.uid.is_empty() {
            told.joined = match joined {
                Some(joined) => Some(joined),
                None if self.api.is_some() => {
                    Some(self.get(&format!("/api/v1/nodes/{}", vm.name)).await?.is_some())
                }
                None => None,
            };
        }
        Ok(Some(told))
    }

    /// The verdict on a NodeClaim that should have been given up, if it is one.
    async fn unregistered(
        &self,
        claim: &Claim,
        seen: &Observation,
        reason: Reason,
    ) -> Option<Verdict> {
        let Observation::Vm(vm) = seen else { return None };
        let overdue = match reason {
            _ if claim.uid.is_empty() => None,
            Reason::NoCseExtension | Reason::CseNotCreated | Reason::CseRunning => {
                overdue(claim, None, self.now)
            }
            Reason::CseSucceeded => {
                overdue_after_success(claim, None, REGISTRATION_LIMIT, self.now)
            }
            _ => None,
        };
        let (api, overdue) = (self.api.clone()?, overdue?);
        let name = claim.node_name();
        let node = match self.get(&format!("/api/v1/nodes/{name}")).await {
            Ok(Some(text)) => serde_json::from_str(&text)
                .map_or(NodeState::Unknown, |node: node::Object| node.state()),
            Ok(None) => NodeState::Absent,
            Err(_) => NodeState::Unknown,
        };
        let cluster = ClusterState { node, request: Inspector::new(api).inspect(&name).await };
        let joined = overdue.is_alive && cluster.node == NodeState::Ready;
        let azure = AzureState::Vm(VmState::of(vm));
        (!joined).then(|| Verdict::not_registered(claim, azure, cluster, overdue))
    }

    /// Something that has no claim, seen as if it had: launched long ago.
    pub(super) fn stand_in(
        &self,
        name: &str,
        vm: Option<VmId>,
        pool: Option<&str>,
        joined: Option<bool>,
    ) -> Claim {
        let long_ago = self.now.saturating_sub(SignedDuration::from_hours(1)).unwrap_or(self.now);
        let claim = Claim::vanished(&std::sync::Arc::from(""), name, vm, pool, long_ago);
        Claim { registered: joined.filter(|joined| *joined).map(|_| long_ago), ..claim }
    }

    fn vm(&self, name: &str) -> Option<VmId> {
        let id = format!(
            "/subscriptions/{}/resourceGroups/{}/virtualMachines/{name}",
            self.scope.subscription, self.scope.node_resource_group
        );
        VmId::parse(&id, &mut Interner::default())
    }

    /// What an observation comes to, or why it comes to nothing.
    pub(super) fn judged(&self, claim: &Claim, seen: &Observation) -> Result<NodeTold, Failed> {
        let unread = |what| Err(Failed::Unread(claim.node_name(), what));
        let verdict = match (judge(claim, seen, self.now), seen) {
            (_, Observation::Refused { .. }) => return unread("Azure does not let us"),
            (Finding::Final(verdict) | Finding::Passing(verdict), _) => verdict,
            (Finding::Nothing, Observation::Throttled { .. }) => {
                return unread("Azure is throttling");
            }
            (Finding::Nothing, Observation::Unreadable { what }) => return unread(what),
            (Finding::Nothing, _) => {
                Verdict::plain(Reason::CseRunning, "The VM is not ready for its bootstrap yet.")
            }
        };
        Ok(NodeTold { said: seen.said(), ..of(claim, verdict, From::Azure) })
    }

    /// Where Azure has nothing to show, and it is allowed: the node's own report, by a command that runs on it.
    pub(super) async fn ask_node(
        &self,
        vm: &ResourceId,
        claim: &Claim,
        told: &mut NodeTold,
    ) -> Result<(), Failed> {
        let reason = told.verdict.reason;
        if !self.run_command
            || told.cse_succeeded
            || !matches!(reason, Reason::NoCseExtension | Reason::NodeNotRegistered)
        {
            return Ok(());
        }
        let reports = self.report_on(vm, &claim.node_name()).await?;
        let diagnose = |report: &str| {
            mooring_diagnosis::diagnose(report.as_bytes(), hints(claim, None)).into_iter().next()
        };
        told.from = From::Node;
        told.earlier = diagnose(&reports.earlier)
            .and_then(|found| Verdict::failed(&found, Source::InstanceView).failure);
        let found = diagnose(&reports.latest);
        told.said = reports.latest;
        told.verdict = match found {
            None => Verdict::plain(Reason::NoCseExtension, wording::NO_REPORT_ON_NODE),
            Some(found) if found.outcome == mooring_diagnosis::Outcome::Succeeded => {
                Verdict::plain(Reason::CseSucceeded, wording::SUCCEEDED)
            }
            Some(found) => Verdict::failed(&found, Source::InstanceView),
        };
        Ok(())
    }
}

fn of(claim: &Claim, verdict: Verdict, from: From) -> NodeTold {
    let real = !claim.uid.is_empty();
    NodeTold {
        node: if real {
            claim.node_name()
        } else {
            claim.vm.as_ref().map_or_else(|| claim.name.to_string(), |vm| vm.name.to_string())
        },
        claim: real.then(|| claim.name.to_string()),
        pool: claim.pool.as_deref().map(str::to_owned),
        image: claim.image_key(),
        joined: real.then_some(claim.registered.is_some()),
        cse_succeeded: verdict.reason == Reason::CseSucceeded,
        verdict,
        from,
        said: String::new(),
        earlier: None,
    }
}
