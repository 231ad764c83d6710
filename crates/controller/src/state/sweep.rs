//! Sweeps: when many nodes start at once, lists are read instead of single VMs.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};
use mooring_nodes::claim::{ClaimMode, Role, role};
use mooring_nodes::verdict::{ConditionReason, Verdict, after, messages, seconds};
use serde::Deserialize;

use super::machine::{State, sorted};
use super::messages::{Action, Sweep, SweepResult};
use crate::observation::ProvisioningState;
use crate::schedule::TRIGGER_RESERVE;
use crate::schedule::is_fixed_read_due;
use crate::verdict::NO_EXTENSION_AFTER_SECONDS;

const SWEEP_INTERVAL: SignedDuration = SignedDuration::from_secs(30);
/// Reads of a VM that no list shows.
const MAX_UNLISTED_READS: u32 = 3;

impl State {
    pub(super) fn is_sweeping(&self) -> bool {
        self.queue.len() > self.settings.sweep_above
    }

    pub(super) fn next_sweep(&self, now: Timestamp) -> Option<Timestamp> {
        let next = self.swept_at.map_or(now, |at| after(at, SWEEP_INTERVAL));
        (self.is_sweeping() || self.has_event_backlog()).then_some(next)
    }

    /// Requests lists if too many reads wait; the last lists must be old enough.
    pub(super) fn request_sweeps(&mut self, now: Timestamp, actions: &mut Vec<Action>) {
        if self.next_sweep(now).is_none_or(|next| next > now) {
            return;
        }
        let mut sweeps = BTreeSet::new();
        for uid in self.queue.uids() {
            let Some(claim) = self.claims.get(uid).map(|tracked| &tracked.claim) else { continue };
            if let Some(machine) = &claim.machine {
                sweeps.insert(Sweep::Machines { pool: Arc::clone(&machine.pool) });
            } else if let Some(vm) = &claim.vm {
                let (subscription, group) = (Arc::clone(&vm.subscription), Arc::clone(&vm.group));
                sweeps.insert(Sweep::Extensions { subscription, group });
            }
        }
        // A list requested only by events counts as one of their reads.
        let free = self.is_sweeping();
        for sweep in sweeps {
            if (free || self.event_rate_limit.take(now, 1, 0).is_ok())
                && self.rate_limit.take(now, 1, TRIGGER_RESERVE).is_ok()
            {
                self.swept_at = Some(now);
                actions.push(Action::Sweep(sweep));
            }
        }
    }

    /// Applies a list: NodeClaims that it shows as running need no separate read.
    pub(super) fn sweep(
        &mut self,
        result: &SweepResult,
        now: Timestamp,
        actions: &mut Vec<Action>,
    ) {
        let machines: HashMap<String, ProvisioningState> = match result {
            SweepResult::Machines { machines, .. } => machines
                .iter()
                .map(|machine| {
                    let failed = !machine.error.is_empty();
                    let state = if failed { ProvisioningState::Failed } else { machine.progress };
                    (machine.name.to_ascii_lowercase(), state)
                })
                .collect(),
            SweepResult::Extensions { .. } => HashMap::new(),
        };
        for uid in sorted(self.queue.uids()) {
            let Some(tracked) = self.claims.get(&uid).filter(|tracked| !tracked.is_final()) else {
                continue;
            };
            let claim = &tracked.claim;
            let row = match (result, &claim.machine, &claim.vm) {
                (SweepResult::Machines { pool, .. }, Some(machine), _) if *pool == machine.pool => {
                    machines.get(&machine.name.to_ascii_lowercase())
                }
                (SweepResult::Extensions { group, rows }, None, Some(vm))
                    if group.eq_ignore_ascii_case(&vm.group) =>
                {
                    rows.get(&vm.name.to_ascii_lowercase())
                }
                _ => continue,
            };
            self.apply(&uid, row.copied().unwrap_or_default(), now, actions);
        }
    }

    fn apply(
        &mut self,
        uid: &Arc<str>,
        row: ProvisioningState,
        now: Timestamp,
        actions: &mut Vec<Action>,
    ) {
        let Some(tracked) = self.claims.get_mut(uid) else { return };
        let old =
            tracked.claim.launched.is_some_and(|at| seconds(at, now) >= NO_EXTENSION_AFTER_SECONDS);
        let is_due = match row {
            // A joined node whose bootstrap succeeded has no further result.
            ProvisioningState::Succeeded if tracked.claim.registered.is_some() => {
                return self.hold_verdict(uid, Verdict::succeeded(), now, actions);
            }
            ProvisioningState::Running => {
                let verdict = Verdict::plain(ConditionReason::CseRunning, messages::RUNNING);
                return self.hold_verdict(uid, verdict, now, actions);
            }
            ProvisioningState::Succeeded
            | ProvisioningState::Failed
            | ProvisioningState::Deleting => true,
            // Without an extension no list shows anything; such nodes have few reads.
            ProvisioningState::Unknown if tracked.claim.mode() == Some(ClaimMode::Scriptless) => {
                is_fixed_read_due(&tracked.claim, tracked.history(), tracked.reason(), now)
            }
            ProvisioningState::Unknown => old && tracked.history().count < MAX_UNLISTED_READS,
        };
        if is_due {
            tracked.work().history.sweep_requested = true;
            self.reconcile(uid, now, actions);
        }
    }
}

/// Returns the Resource Graph query for all extensions in a resource group.
pub fn query(group: &str) -> String {
    let plain: String =
        group.chars().filter(|c| c.is_ascii_alphanumeric() || "-_.()".contains(*c)).collect();
    format!(
        "resources | where type =~ 'microsoft.compute/virtualmachines/extensions' and resourceGroup =~ '{plain}' \
         | project id, name, publisher = tostring(properties.publisher), kind = tostring(properties.type), \
         state = tostring(properties.provisioningState)"
    )
}

/// An extension as the query projects it.
#[derive(Deserialize)]
pub struct SweepRow {
    id: String,
    #[serde(default)]
    name: String,
    #[serde(default)]
    publisher: String,
    #[serde(default)]
    kind: String,
    #[serde(default)]
    state: String,
}

impl SweepRow {
    /// Returns the VM's name in lower case and the state of its bootstrap; none for other extensions.
    pub fn state(&self) -> Option<(String, ProvisioningState)> {
        let name = self.name.rsplit('/').next().unwrap_or_default();
        if role(name, &self.publisher, &self.kind) == Role::Other {
            return None;
        }
        let id = self.id.to_ascii_lowercase();
        let vm = id.split("/virtualmachines/").nth(1)?.split('/').next()?;
        Some((vm.to_owned(), ProvisioningState::parse(&self.state)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::observation::MachineStatus;

    #[test]
    fn sweep_page_shows_the_bootstrap_state_of_vms() {
        let rows = serde_json::json!([
            {"id": "/subscriptions/0/resourceGroups/G/providers/Microsoft.Compute/virtualMachines/aks-A/extensions/cse-agent-karpenter",
             "name": "cse-agent-karpenter", "publisher": "Microsoft.Azure.Extensions", "kind": "CustomScript", "state": "Failed"},
            {"id": "/subscriptions/0/resourceGroups/g/providers/microsoft.compute/virtualmachines/aks-b/extensions/computeAksLinuxBilling",
             "name": "computeAksLinuxBilling", "publisher": "Microsoft.AKS", "kind": "Compute.AKS.Linux.Billing", "state": "Failed"},
            {"id": "strange", "publisher": "Microsoft.Azure.Extensions", "kind": "CustomScript"}
        ]);
        let rows: Vec<SweepRow> = serde_json::from_value(rows).unwrap();
        let states: Vec<_> = rows.iter().filter_map(SweepRow::state).collect();
        assert_eq!(states, [("aks-a".to_owned(), ProvisioningState::Failed)]);
    }

    const GROUP: &str = "/subscriptions/0/resourceGroups/MC_a_b_c";
    const POOL: &str = "/subscriptions/0/resourceGroups/a/providers/Microsoft.ContainerService/managedClusters/b/agentPools/p";

    /// A leader that sweeps, with one NodeClaim that is starting.
    fn sweeping(machine: Option<&str>) -> (State, Timestamp) {
        let launched: Timestamp = "2026-11-15T05:00:00Z".parse().unwrap();
        let mut object = serde_json::json!({
            "metadata": {"name": "c", "uid": "u", "creationTimestamp": launched.to_string(), "annotations": {}},
            "spec": {"nodeClassRef": {"group": "karpenter.azure.com", "kind": "AKSNodeClass", "name": "default"}},
            "status": {
                "providerID": format!("azure://{GROUP}/providers/Microsoft.Compute/virtualMachines/aks-C"),
                "conditions": [{"type": "Launched", "status": "True", "lastTransitionTime": launched.to_string()}],
            },
        });
        if let Some(machine) = machine {
            object["metadata"]["annotations"]["karpenter.azure.com/aks-machine-resource-id"] =
                machine.into();
        }
        let mut interner = mooring_nodes::claim::vm_id::Interner::default();
        let json = object.to_string();
        let claim = mooring_nodes::claim::Claim::from_json(
            json.as_bytes(),
            "CSEProvisioned",
            &mut interner,
        )
        .unwrap();
        let scope = mooring_nodes::claim::scope::Scope {
            subscription: "0".to_owned(),
            node_resource_group: "MC_a_b_c".to_owned(),
            cluster: POOL.strip_suffix("/agentPools/p").map(str::to_owned),
        };
        let settings = crate::Settings { scope, sweep_above: 0, ..crate::Settings::default() };
        let mut state = State::new(settings, launched);
        state.handle(super::super::Input::Claim(Box::new(claim)), launched);
        state.handle(super::super::Input::Leads(true), launched);
        (state, launched + SignedDuration::from_secs(20))
    }

    fn reads(actions: &[Action]) -> usize {
        actions.iter().filter(|action| matches!(action, Action::Read(_))).count()
    }

    #[test]
    fn sweep_that_shows_a_failure_triggers_a_read() {
        for (group, row, expected) in [
            ("MC_a_b_c", ProvisioningState::Failed, 1),
            ("mc_A_B_C", ProvisioningState::Failed, 1),
            ("MC_other", ProvisioningState::Failed, 0),
            ("MC_a_b_c", ProvisioningState::Running, 0),
        ] {
            let (mut state, now) = sweeping(None);
            let rows = HashMap::from([("aks-c".to_owned(), row)]);
            let result = SweepResult::Extensions { group: group.into(), rows };
            let actions = state.handle(super::super::Input::SweepResult(result), now);
            assert_eq!(reads(&actions), expected, "{group} {row:?}: {actions:?}");
        }
    }

    #[test]
    fn listed_success_of_a_registered_node_needs_no_read() {
        for (registered, reason, expected) in
            [(true, Some(ConditionReason::CseSucceeded), 0), (false, None, 1)]
        {
            let (mut state, now) = sweeping(None);
            let tracked = state.claims.get_mut("u").unwrap();
            Arc::make_mut(&mut tracked.claim).registered = registered.then_some(now);
            let rows = HashMap::from([("aks-c".to_owned(), ProvisioningState::Succeeded)]);
            let result = SweepResult::Extensions { group: "MC_a_b_c".into(), rows };
            let actions = state.handle(super::super::Input::SweepResult(result), now);
            assert_eq!((state.claims["u"].reason(), reads(&actions)), (reason, expected));
        }
    }

    fn reads_of_an_unlisted_node(image: &str, count: u32, seconds: i64) -> usize {
        let (mut state, _) = sweeping(None);
        let tracked = state.claims.get_mut("u").unwrap();
        Arc::make_mut(&mut tracked.claim).image = Some(image.into());
        tracked.work().history.count = count;
        let (group, rows) = ("MC_a_b_c".into(), HashMap::new());
        let now = tracked.claim.unregistered_since + SignedDuration::from_secs(seconds);
        let input = super::super::Input::SweepResult(SweepResult::Extensions { group, rows });
        reads(&state.handle(input, now))
    }

    /// A list shows nothing about a node without an extension.
    #[test]
    fn scriptless_node_is_read_at_fixed_times_only() {
        for (minutes, expected) in [(4, 0), (6, 1)] {
            let image = "/CommunityGalleries/AKSUbuntu/images/x";
            assert_eq!(reads_of_an_unlisted_node(image, 0, minutes * 60), expected, "{minutes}");
        }
    }

    #[test]
    fn node_without_extension_is_read_after_three_minutes() {
        let image = "/subscriptions/0/resourceGroups/g/providers/x";
        for (count, seconds, expected) in [(1, 179, 0), (1, 180, 1), (2, 180, 1), (3, 180, 0)] {
            let found = reads_of_an_unlisted_node(image, count, seconds);
            assert_eq!(found, expected, "{count} {seconds}");
        }
    }

    #[test]
    fn succeeded_machine_with_an_error_is_read() {
        for (error, progress, expected) in [
            ("some words", ProvisioningState::Succeeded, 1),
            ("", ProvisioningState::Running, 0),
            ("some words", ProvisioningState::Running, 1),
        ] {
            let (mut state, now) = sweeping(Some(&format!("{POOL}/machines/m")));
            let machine = MachineStatus { name: "M".into(), progress, error: error.to_owned() };
            let pool = state.claims["u"].claim.machine.as_ref().unwrap().pool.clone();
            let result = SweepResult::Machines { pool, machines: vec![machine] };
            let actions = state.handle(super::super::Input::SweepResult(result), now);
            assert_eq!(reads(&actions), expected, "{error:?} {progress:?}: {actions:?}");
        }
    }

    #[test]
    fn resource_group_is_escaped_in_the_query() {
        assert!(query("g' or '1").contains("=~ 'gor1'"));
        assert!(query("MC_a-b.c(1)").contains("=~ 'MC_a-b.c(1)'"));
    }
}
