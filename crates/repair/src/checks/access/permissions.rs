//! The check `permissions`: the caller has all permissions that the run needs.

use std::collections::{BTreeMap, BTreeSet};

use mooring_redact::printable;

use super::needs::{AccessNeed, Actor, needs, place};
use crate::checks::PERMISSIONS;
use crate::checks::capacity::{AccessRules, Planning};
use mooring_workflow::plural::counted;
use mooring_workflow::{CheckResult, Outcome, Reading};

/// Role for resources that a pool references.
const LINKED_ROLE: &str = "packaging/roles/mooring-repair-linked.json";

pub(in crate::checks) fn permissions(plan: &Planning<'_>) -> CheckResult {
    check_permissions(&needs_of(plan), &plan.capacity.rights)
}

pub(in crate::checks) fn needs_of(plan: &Planning<'_>) -> Vec<AccessNeed> {
    needs(plan.view, plan.settings, plan.cluster, plan.pool)
}

#[derive(Default)]
pub(in crate::checks) struct Findings {
    pub(in crate::checks) forbidden: BTreeSet<String>,
    pub(in crate::checks) unclear: BTreeSet<String>,
}

impl Findings {
    pub(in crate::checks) fn into_check(self, name: &'static str, fine: String) -> CheckResult {
        let outcome = match (self.forbidden.is_empty(), self.unclear.is_empty()) {
            (false, _) => Outcome::Fail,
            (true, false) => Outcome::Unknown,
            (true, true) => Outcome::Pass,
        };
        let texts: Vec<String> = self.forbidden.into_iter().chain(self.unclear).collect();
        let detail = if texts.is_empty() { fine } else { texts.join("; ") };
        CheckResult::new(name, outcome, detail)
    }
}

/// Returns a reading at a scope; if it is missing, adds the reason to the findings.
pub(in crate::checks) fn at<'a, T>(
    readings: &'a BTreeMap<String, Reading<Vec<T>>>,
    scope: &str,
    what: &str,
    findings: &mut Findings,
) -> Option<&'a [T]> {
    match readings.get(scope) {
        Some(Reading::Known(list)) => return Some(list),
        Some(other) => {
            let why = other.missing().unwrap_or_default();
            findings.unclear.insert(format!("{what} at {}: {why}", printable(scope)));
        }
        None => {
            findings.unclear.insert(format!("{what} at {}: not read", printable(scope)));
        }
    }
    None
}

fn is_linked(need: &AccessNeed) -> bool {
    !need.scope.to_lowercase().contains("/microsoft.containerservice/managedclusters/")
        && need.scope.contains("/providers/")
}

fn check_permissions(needs: &[AccessNeed], rights: &AccessRules) -> CheckResult {
    let mut findings = Findings::default();
    let own = || needs.iter().filter(|need| need.actor == Actor::Caller);
    for need in own() {
        let Some(list) = at(&rights.permissions, &place(need), "permissions", &mut findings) else {
            continue;
        };
        // One entry must grant it: notActions of other entries do not apply to it.
        if list.iter().any(|permission| permission.covers(need.action)) {
            continue;
        }
        let role = if is_linked(need) {
            format!("; assign the role of {LINKED_ROLE} there")
        } else {
            String::new()
        };
        let missing = format!("{} is missing on {}{role}", need.action, printable(&need.scope));
        if need.certain {
            findings.forbidden.insert(format!("{}: {missing}", need.step.name()));
        } else {
            findings
                .unclear
                .insert(format!("{} may need a permission: {missing}", need.step.name()));
        }
    }
    let fine = format!("{} are granted", counted(own().count(), "action"));
    findings.into_check(PERMISSIONS, fine)
}

#[cfg(test)]
mod tests {
    use mooring_arm::calls::Principal;

    use mooring_arm::calls::{DenyAssignment, Lock, Permission};

    use super::*;
    use crate::checks::access::deny_assignments::{EVERYONE, check_deny_assignments};
    use crate::checks::access::locks::check_locks;
    use crate::checks::{blocks, places_of_locks, warns};
    use crate::plan::Step;

    fn check(needs: &[AccessNeed], rights: &AccessRules) -> [CheckResult; 3] {
        let locks = check_locks(needs, rights);
        [check_permissions(needs, rights), locks, check_deny_assignments(needs, rights)]
    }

    const CLUSTER: &str =
        "/subscriptions/s/resourceGroups/rg/providers/Microsoft.ContainerService/managedClusters/c";
    const SUBNET: &str = "/subscriptions/s/resourceGroups/net/providers/Microsoft.Network/virtualNetworks/v/subnets/n";
    const JOIN: &str = "Microsoft.Network/virtualNetworks/subnets/join/action";
    const DELETE: &str = "Microsoft.ContainerService/managedClusters/agentPools/delete";

    fn need(action: &'static str, scope: &str, step: Step) -> AccessNeed {
        AccessNeed { action, scope: scope.to_owned(), step, actor: Actor::Caller, certain: true }
    }

    fn needs() -> Vec<AccessNeed> {
        vec![
            need(DELETE, &format!("{CLUSTER}/agentPools/system"), Step::DeletePool),
            need(JOIN, SUBNET, Step::CreateTemporary),
        ]
    }

    /// Access rules under which nothing is missing, locked or denied.
    fn rights() -> AccessRules {
        let mut rights = AccessRules { caller: Some("me".to_owned()), ..AccessRules::default() };
        let all = Permission { actions: vec!["*".to_owned()], not_actions: Vec::new() };
        for need in needs() {
            rights.permissions.insert(place(&need), Reading::Known(vec![all.clone()]));
            rights.deny_assignments.insert(place(&need), Reading::Known(Vec::new()));
            for scope in places_of_locks(&need) {
                rights.locks.insert(scope, Reading::Known(Vec::new()));
            }
        }
        rights
    }

    fn outcomes(needs: &[AccessNeed], rights: &AccessRules) -> [Outcome; 3] {
        check(needs, rights).map(|check| check.outcome)
    }

    fn lock(scope: &str, level: &str) -> Lock {
        Lock {
            id: format!("{scope}/providers/Microsoft.Authorization/locks/keep"),
            name: "keep".to_owned(),
            properties: mooring_arm::calls::LockProperties { level: level.to_owned() },
        }
    }

    #[test]
    fn everything_granted_passes() {
        assert_eq!(outcomes(&needs(), &rights()), [Outcome::Pass; 3]);
    }

    #[test]
    fn permission_must_be_granted_by_a_single_entry() {
        let entry = |actions: &[&str], not_actions: &[&str]| {
            let list = |words: &[&str]| words.iter().map(|&word| word.to_owned()).collect();
            Permission { actions: list(actions), not_actions: list(not_actions) }
        };
        let at_subnet = |list: Vec<Permission>| {
            let mut rights = rights();
            rights.permissions.insert(SUBNET.to_owned(), Reading::Known(list));
            let [check, ..] = check(&needs(), &rights);
            (check.outcome, check.detail())
        };
        for (list, wanted) in [
            (vec![entry(&["MICROSOFT.network/*"], &[])], Outcome::Pass),
            (vec![entry(&["*/read"], &[])], Outcome::Fail),
            (vec![entry(&["*"], &["*/join/Action"])], Outcome::Fail),
            (vec![entry(&["*"], &["*/join/action"]), entry(&[JOIN], &[])], Outcome::Pass),
            (vec![], Outcome::Fail),
        ] {
            let (outcome, detail) = at_subnet(list);
            assert_eq!(outcome, wanted, "{detail}");
            let named = detail.contains(JOIN) && detail.contains(SUBNET);
            assert_eq!(named, wanted == Outcome::Fail, "{detail}");
        }
    }

    #[test]
    fn unreadable_permissions_are_unknown_and_missing_ones_fail() {
        let denied = || Reading::Denied("AuthorizationFailed".to_owned());
        let mut rights = rights();
        rights.permissions.insert(SUBNET.to_owned(), denied());
        rights.locks.insert("/subscriptions/s".to_owned(), Reading::Failed("HTTP 503".to_owned()));
        rights.deny_assignments.remove(SUBNET);
        let checks = check(&needs(), &rights);
        for found in &checks {
            assert_eq!(found.outcome, Outcome::Unknown, "{found:?}");
            assert!(warns(found) && !blocks(found), "{found:?}");
        }
        assert!(checks[0].detail().contains(SUBNET), "{}", checks[0].detail());
        rights.permissions.insert(CLUSTER.to_owned(), Reading::Known(Vec::new()));
        let [permissions, ..] = check(&needs(), &rights);
        assert_eq!(permissions.outcome, Outcome::Fail);
        assert!(permissions.detail().contains("delete-pool: "), "{}", permissions.detail());
        assert!(permissions.detail().contains("not permitted"), "{}", permissions.detail());
    }

    #[test]
    fn locks_block_by_level_and_scope() {
        let group = "/subscriptions/s/resourceGroups/rg";
        for (scope, level, wanted) in [
            (CLUSTER, "CanNotDelete", Outcome::Fail),
            (group, "cannotdelete", Outcome::Fail),
            ("/subscriptions/S", "CanNotDelete", Outcome::Fail),
            (&format!("{CLUSTER}/agentPools/system"), "CanNotDelete", Outcome::Fail),
            (&format!("{CLUSTER}/agentPools/system/machines/m"), "CanNotDelete", Outcome::Fail),
            (&format!("{CLUSTER}/agentPools/other"), "CanNotDelete", Outcome::Pass),
            (&format!("{group}2"), "ReadOnly", Outcome::Pass),
            (SUBNET, "CanNotDelete", Outcome::Pass),
            (SUBNET, "ReadOnly", Outcome::Fail),
            (CLUSTER, "NotSpecified", Outcome::Pass),
            (CLUSTER, "Later", Outcome::Unknown),
        ] {
            let mut rights = rights();
            // Azure lists it at each scope that it concerns.
            for list in rights.locks.values_mut() {
                *list = Reading::Known(vec![lock(scope, level)]);
            }
            let [_, found, _] = check(&needs(), &rights);
            assert_eq!(found.outcome, wanted, "{scope} {level}: {}", found.detail());
            if wanted == Outcome::Fail {
                let text = format!("lock keep ({level}) on {scope} blocks ");
                assert!(found.detail().starts_with(&text), "{}", found.detail());
            }
        }
    }

    #[test]
    fn locks_apply_to_the_service_without_reading_its_permissions() {
        let scope = "/subscriptions/s/resourceGroups/nodes";
        let action = "Microsoft.Compute/virtualMachineScaleSets/delete";
        let service =
            AccessNeed { actor: Actor::Service, ..need(action, scope, Step::DeleteTemporary) };
        let mut rights = AccessRules::default();
        for place in places_of_locks(&service) {
            rights.locks.insert(place, Reading::Known(vec![lock(scope, "CanNotDelete")]));
        }
        let found = outcomes(&[service], &rights);
        assert_eq!(found, [Outcome::Pass, Outcome::Fail, Outcome::Pass]);
    }

    fn principal(id: &str, kind: &str) -> Principal {
        Principal { id: id.into(), kind: kind.into() }
    }

    fn everyone() -> Vec<Principal> {
        vec![principal(EVERYONE, "SystemDefined")]
    }

    /// A deny assignment on the network of the subnet that excludes one action.
    fn denial(
        principals: Vec<Principal>,
        excluded: Vec<Principal>,
        do_not_apply_to_child_scopes: bool,
        not_action: &str,
    ) -> DenyAssignment {
        DenyAssignment {
            id: String::new(),
            properties: mooring_arm::calls::DenyAssignmentProperties {
                deny_assignment_name: "stack".to_owned(),
                permissions: vec![Permission {
                    actions: vec!["*".to_owned()],
                    not_actions: vec![not_action.to_owned()],
                }],
                scope: "/subscriptions/s/resourceGroups/NET".to_owned(),
                do_not_apply_to_child_scopes,
                principals,
                exclude_principals: excluded,
            },
        }
    }

    #[test]
    fn linked_resources_are_outside_of_the_cluster() {
        let is_linked = |scope: &str| is_linked(&need(JOIN, scope, Step::CreateTemporary));
        assert!(is_linked(SUBNET));
        assert!(!is_linked(&format!("{CLUSTER}/agentPools/system")));
        assert!(!is_linked("/subscriptions/s/resourceGroups/MC"), "a resource group");
    }

    #[test]
    fn lock_of_an_undocumented_need_is_unclear() {
        let mut rights = rights();
        let id = format!("{SUBNET}/providers/Microsoft.Authorization/locks/l");
        let lock = Lock {
            id,
            name: "l".to_owned(),
            properties: mooring_arm::calls::LockProperties { level: "ReadOnly".to_owned() },
        };
        let mut needs = needs();
        for place in places_of_locks(&needs[1]) {
            rights.locks.insert(place, Reading::Known(vec![lock.clone()]));
        }
        let [_, found, _] = check(&needs, &rights);
        assert_eq!(found.outcome, Outcome::Fail, "{}", found.detail());
        needs[1].certain = false;
        let [_, found, _] = check(&needs, &rights);
        assert_eq!(found.outcome, Outcome::Unknown, "{}", found.detail());
        assert!(found.detail().contains("may block create-temporary"), "{}", found.detail());
    }

    /// Azure documents no permission for this link.
    #[test]
    fn deny_assignment_of_an_undocumented_need_is_unclear() {
        let mut rights = rights();
        let denied = denial(everyone(), vec![], false, "*/read");
        rights.deny_assignments.insert(SUBNET.to_owned(), Reading::Known(vec![denied]));
        let mut needs = needs();
        let [_, _, found] = check(&needs, &rights);
        assert_eq!(found.outcome, Outcome::Fail, "{}", found.detail());
        needs[1].certain = false;
        let [_, _, found] = check(&needs, &rights);
        assert_eq!(found.outcome, Outcome::Unknown, "{}", found.detail());
        assert!(found.detail().contains("possibly for this identity"), "{}", found.detail());
    }

    #[test]
    fn deny_assignment_blocks_if_it_applies_to_the_caller() {
        let check_with = |principals, excluded, caller: Option<&str>, below: bool, action: &str| {
            let mut rights = AccessRules { caller: caller.map(str::to_owned), ..rights() };
            let denial = denial(principals, excluded, below, action);
            rights.deny_assignments.insert(SUBNET.to_owned(), Reading::Known(vec![denial]));
            let [_, _, found] = check(&needs(), &rights);
            (found.outcome, found.detail())
        };
        let (outcome, detail) = check_with(everyone(), vec![], Some("me"), false, "*/read");
        assert_eq!(outcome, Outcome::Fail);
        assert!(detail.contains("deny assignment stack on "), "{detail}");
        assert!(detail.contains(JOIN), "{detail}");
        for (principals, excluded, caller, alone, action, wanted) in [
            (everyone(), vec![principal("ME", "User")], Some("me"), false, "*/read", Outcome::Pass),
            (
                everyone(),
                vec![principal("aks", "ServicePrincipal")],
                Some("me"),
                false,
                "*/read",
                Outcome::Fail,
            ),
            (
                everyone(),
                vec![principal("aks", "ServicePrincipal")],
                None,
                false,
                "*/read",
                Outcome::Unknown,
            ),
            (
                everyone(),
                vec![principal("g", "Group")],
                Some("me"),
                false,
                "*/read",
                Outcome::Unknown,
            ),
            (vec![principal("you", "User")], vec![], Some("me"), false, "*/read", Outcome::Pass),
            (vec![principal("me", "User")], vec![], Some("me"), false, "*/read", Outcome::Fail),
            (vec![principal("g", "Group")], vec![], Some("me"), false, "*/read", Outcome::Unknown),
            (everyone(), vec![], Some("me"), true, "*/read", Outcome::Pass),
            (everyone(), vec![], Some("me"), false, "*/join/action", Outcome::Pass),
        ] {
            let (outcome, detail) = check_with(principals, excluded, caller, alone, action);
            assert_eq!(outcome, wanted, "{detail}");
        }
    }
}
