//! When many nodes are on their way at once, lists are read instead of single VMs.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};
use serde::Deserialize;

use super::machine::State;
use super::messages::{Action, Sweep, Swept};
use crate::claim::mode::{Mode, Role, role};
use crate::observation::Progress;
use crate::schedule::is_mark_due;
use crate::schedule::share::KEPT_FOR_TRIGGERS;
use crate::verdict::condition::Reason;
use crate::verdict::wording;
use crate::verdict::{NO_EXTENSION_AFTER_SECONDS, Verdict, seconds};

const EVERY: SignedDuration = SignedDuration::from_secs(30);
/// A VM that no list shows is looked at this often.
const BLIND_LOOKS: u32 = 3;

impl State {
    pub(super) fn is_sweeping(&self) -> bool {
        self.queue.len() > self.settings.sweep_above
    }

    pub(super) fn next_sweep(&self, now: Timestamp) -> Option<Timestamp> {
        let next =
            self.swept_at.map_or(now, |at| at.saturating_add(EVERY).unwrap_or(Timestamp::MAX));
        (self.is_sweeping() || self.has_event_backlog()).then_some(next)
    }

    pub(super) fn ask_sweeps(&mut self, now: Timestamp, actions: &mut Vec<Action>) {
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
        // A list that only events ask for is one of the reads that they may ask for.
        let free = self.is_sweeping();
        for sweep in sweeps {
            if (free || self.event_share.take(0.0, now)) && self.share.take(KEPT_FOR_TRIGGERS, now)
            {
                self.swept_at = Some(now);
                actions.push(Action::Sweep(sweep));
            }
        }
    }

    /// A list was read: what it shows as running needs no look of its own.
    pub(super) fn sweep(&mut self, swept: &Swept, now: Timestamp, actions: &mut Vec<Action>) {
        let mut uids: Vec<Arc<str>> = self.queue.uids().cloned().collect();
        uids.sort_unstable();
        let machines: HashMap<String, Progress> = match swept {
            Swept::Machines { machines, .. } => machines
                .iter()
                .map(|machine| {
                    let failed = !machine.error.is_empty();
                    (
                        machine.name.to_ascii_lowercase(),
                        if failed { Progress::Failed } else { machine.progress },
                    )
                })
                .collect(),
            Swept::Extensions { .. } => HashMap::new(),
        };
        for uid in uids {
            let Some(tracked) = self.claims.get(&uid).filter(|tracked| !tracked.is_settled())
            else {
                continue;
            };
            let claim = &tracked.claim;
            let row = match (swept, &claim.machine, &claim.vm) {
                (Swept::Machines { pool, .. }, Some(machine), _) if *pool == machine.pool => {
                    machines.get(&machine.name.to_ascii_lowercase())
                }
                (Swept::Extensions { group, rows }, None, Some(vm))
                    if group.eq_ignore_ascii_case(&vm.group) =>
                {
                    rows.get(&vm.name.to_ascii_lowercase())
                }
                _ => continue,
            };
            self.apply(&uid, row.copied(), now, actions);
        }
    }

    fn apply(
        &mut self,
        uid: &Arc<str>,
        row: Option<Progress>,
        now: Timestamp,
        actions: &mut Vec<Action>,
    ) {
        let Some(tracked) = self.claims.get_mut(uid) else { return };
        let old =
            tracked.claim.launched.is_some_and(|at| seconds(at, now) >= NO_EXTENSION_AFTER_SECONDS);
        let registered = tracked.claim.registered.is_some();
        match row {
            // A node that came up with a bootstrap that succeeded has nothing more to tell.
            Some(Progress::Succeeded) if registered => {
                let verdict = Verdict::plain(Reason::CseSucceeded, wording::SUCCEEDED);
                self.settle(uid, verdict, now, actions);
                return;
            }
            Some(Progress::Succeeded | Progress::Failed | Progress::Deleting) => {
                tracked.work().looks.wanted = true;
            }
            Some(Progress::Running) => {
                let verdict = Verdict::plain(Reason::CseRunning, wording::RUNNING);
                self.settle(uid, verdict, now, actions);
                return;
            }
            // Without an extension no list shows anything; such nodes have few looks of their own.
            Some(Progress::Unknown) | None if tracked.claim.mode() == Some(Mode::Scriptless) => {
                if !is_mark_due(&tracked.claim, tracked.looks(), tracked.reason(), now) {
                    return;
                }
                tracked.work().looks.wanted = true;
            }
            Some(Progress::Unknown) | None if old && tracked.looks().count < BLIND_LOOKS => {
                tracked.work().looks.wanted = true;
            }
            Some(Progress::Unknown) | None => return,
        }
        self.reconcile(uid, now, actions);
    }
}

/// The query of a sweep: every extension in a resource group, with what tells the bootstrap's.
pub fn query(group: &str) -> String {
    let plain: String =
        group.chars().filter(|c| c.is_ascii_alphanumeric() || "-_.()".contains(*c)).collect();
    format!(
        "resources | where type =~ 'microsoft.compute/virtualmachines/extensions' and resourceGroup =~ '{plain}' \
         | project id, name, publisher = tostring(properties.publisher), kind = tostring(properties.type), \
         state = tostring(properties.provisioningState)"
    )
}

#[derive(Deserialize)]
struct Page {
    data: Vec<Row>,
}

#[derive(Deserialize)]
struct Row {
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

/// One page of a sweep's answer: the VM's name in lower case, and where its bootstrap is.
pub fn rows(json: &[u8]) -> Option<HashMap<String, Progress>> {
    let page: Page = serde_json::from_slice(json).ok()?;
    let ours = page.data.into_iter().filter(|row| {
        let name = row.name.rsplit('/').next().unwrap_or_default();
        role(name, &row.publisher, &row.kind) != Role::Other
    });
    Some(
        ours.filter_map(|row| {
            let id = row.id.to_ascii_lowercase();
            let vm = id.split("/virtualmachines/").nth(1)?.split('/').next()?;
            Some((vm.to_owned(), Progress::parse(&row.state)))
        })
        .collect(),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::observation::MachineSeen;

    #[test]
    fn a_page_tells_where_each_vms_bootstrap_is() {
        let json = serde_json::json!({"totalRecords": 3, "data": [
            {"id": "/subscriptions/0/resourceGroups/G/providers/Microsoft.Compute/virtualMachines/aks-A/extensions/cse-agent-karpenter",
             "name": "cse-agent-karpenter", "publisher": "Microsoft.Azure.Extensions", "kind": "CustomScript", "state": "Failed"},
            {"id": "/subscriptions/0/resourceGroups/g/providers/microsoft.compute/virtualmachines/aks-b/extensions/computeAksLinuxBilling",
             "name": "computeAksLinuxBilling", "publisher": "Microsoft.AKS", "kind": "Compute.AKS.Linux.Billing", "state": "Failed"},
            {"id": "strange", "publisher": "Microsoft.Azure.Extensions", "kind": "CustomScript"}
        ]});
        let rows = rows(json.to_string().as_bytes()).unwrap();
        assert_eq!(rows, HashMap::from([("aks-a".to_owned(), Progress::Failed)]));
        assert_eq!(super::rows(b"{}"), None);
    }

    const GROUP: &str = "/subscriptions/0/resourceGroups/MC_a_b_c";
    const POOL: &str = "/subscriptions/0/resourceGroups/a/providers/Microsoft.ContainerService/managedClusters/b/agentPools/p";

    /// A leader that sweeps, with one NodeClaim that is on its way.
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
        let mut interner = crate::claim::intern::Interner::default();
        let json = object.to_string();
        let claim =
            crate::claim::Claim::from_json(json.as_bytes(), "CSEProvisioned", &mut interner)
                .unwrap();
        let scope = crate::claim::scope::Scope {
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
    fn a_list_that_shows_a_failure_leads_to_a_read_whatever_the_case_of_its_group() {
        for (group, row, expected) in [
            ("MC_a_b_c", Progress::Failed, 1),
            ("mc_A_B_C", Progress::Failed, 1),
            ("MC_other", Progress::Failed, 0),
            ("MC_a_b_c", Progress::Running, 0),
        ] {
            let (mut state, now) = sweeping(None);
            let rows = HashMap::from([("aks-c".to_owned(), row)]);
            let swept = Swept::Extensions { group: group.into(), rows };
            let actions = state.handle(super::super::Input::Swept(swept), now);
            assert_eq!(reads(&actions), expected, "{group} {row:?}: {actions:?}");
        }
    }

    #[test]
    fn a_machine_with_an_error_is_read_although_it_succeeded() {
        for (error, progress, expected) in [
            ("some words", Progress::Succeeded, 1),
            ("", Progress::Running, 0),
            ("some words", Progress::Running, 1),
        ] {
            let (mut state, now) = sweeping(Some(&format!("{POOL}/machines/m")));
            let machine = MachineSeen { name: "M".into(), progress, error: error.to_owned() };
            let pool = state.claims["u"].claim.machine.as_ref().unwrap().pool.clone();
            let swept = Swept::Machines { pool, machines: vec![machine] };
            let actions = state.handle(super::super::Input::Swept(swept), now);
            assert_eq!(reads(&actions), expected, "{error:?} {progress:?}: {actions:?}");
        }
    }

    #[test]
    fn a_group_cannot_leave_its_quotes() {
        assert!(query("g' or '1").contains("=~ 'gor1'"));
    }
}
