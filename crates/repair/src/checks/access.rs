//! The checks `permissions`, `locks` and `deny-assignments`: the caller and AKS may do what the steps of the run need.

use std::collections::{BTreeMap, BTreeSet};

use mooring_arm::calls::{Lock, Principal};
use mooring_redact::printable;
use mooring_workflow::Reading;
use mooring_workflow::plural::counted;

use super::capacity::{AccessRules, Planning};
use super::finding::{Found, fail, pass};
use super::needs::{AccessNeed, Actor, is_at_or_below, needs, place, places_of_locks};
use crate::plan::Step;

/// Role for resources that a pool references.
const LINKED_ROLE: &str = "packaging/roles/mooring-repair-linked.json";
/// Principal of a deny assignment for everyone.
const EVERYONE: &str = "00000000-0000-0000-0000-000000000000";

pub(super) fn permissions(plan: &Planning<'_>) -> Found {
    check_permissions(&needs_of(plan), &plan.capacity.rights)
}

pub(super) fn locks(plan: &Planning<'_>) -> Found {
    check_locks(&needs_of(plan), &plan.capacity.rights)
}

pub(super) fn deny_assignments(plan: &Planning<'_>) -> Found {
    check_deny_assignments(&needs_of(plan), &plan.capacity.rights)
}

fn needs_of(plan: &Planning<'_>) -> Vec<AccessNeed> {
    needs(plan.view, plan.settings, plan.cluster, plan.pool)
}

/// Returns the needs whose permissions can be read.
fn of_caller(needs: &[AccessNeed]) -> impl Iterator<Item = &AccessNeed> {
    needs.iter().filter(|need| need.actor == Actor::Caller)
}

/// What blocks a step, and what may.
#[derive(Default)]
struct Obstacles {
    certain: BTreeSet<String>,
    unclear: BTreeSet<String>,
}

impl Obstacles {
    fn into_found(self, fine: impl Into<String>) -> Found {
        let is_certain = !self.certain.is_empty();
        let texts: Vec<String> = self.certain.into_iter().chain(self.unclear).collect();
        match texts.join("; ") {
            _ if texts.is_empty() => pass(fine),
            text if is_certain => fail(text),
            text => Err(text),
        }
    }

    /// Returns what was read at a scope. A missing reading may hide an obstacle.
    fn read<'a, T>(
        &mut self,
        readings: &'a BTreeMap<String, Reading<Vec<T>>>,
        scope: &str,
        what: &str,
    ) -> Option<&'a [T]> {
        let why = match readings.get(scope) {
            Some(Reading::Known(list)) => return Some(list),
            Some(other) => other.missing().unwrap_or_default(),
            None => "not read".to_owned(),
        };
        self.unclear.insert(format!("{what} at {}: {why}", printable(scope)));
        None
    }
}

fn check_permissions(needs: &[AccessNeed], rights: &AccessRules) -> Found {
    let mut found = Obstacles::default();
    for need in of_caller(needs) {
        let list = found.read(&rights.permissions, &place(need), "permissions");
        // One entry must grant it: notActions of other entries do not apply to it.
        if list.is_none_or(|list| list.iter().any(|one| one.covers(need.action))) {
            continue;
        }
        let role = if is_linked(need) {
            format!("; assign the role of {LINKED_ROLE} there")
        } else {
            String::new()
        };
        let missing = format!("{} is missing on {}{role}", need.action, printable(&need.scope));
        let step = need.step.name();
        if need.certain {
            found.certain.insert(format!("{step}: {missing}"));
        } else {
            found.unclear.insert(format!("{step} may need a permission: {missing}"));
        }
    }
    found.into_found(format!("{} are granted", counted(of_caller(needs).count(), "action")))
}

fn is_linked(need: &AccessNeed) -> bool {
    !need.scope.to_lowercase().contains("/microsoft.containerservice/managedclusters/")
        && need.scope.contains("/providers/")
}

fn check_locks(needs: &[AccessNeed], rights: &AccessRules) -> Found {
    let mut found = Obstacles::default();
    let mut blocked: BTreeMap<String, BTreeSet<Step>> = BTreeMap::new();
    for need in needs {
        for place in places_of_locks(need) {
            let list = found.read(&rights.locks, &place, "locks").unwrap_or_default();
            for (lock, scope) in list.iter().filter_map(|lock| Some((lock, concerns(lock, need)?)))
            {
                let level = &lock.properties.level;
                let [name, shown, scope] = [&lock.name, level, scope].map(printable);
                let name = format!("lock {name} ({shown}) on {scope}");
                match blocks_action(level, need.action) {
                    Some(true) if need.certain => {
                        blocked.entry(name).or_default().insert(need.step);
                    }
                    Some(true) => {
                        found.unclear.insert(format!("{name} may block {}", need.step.name()));
                    }
                    Some(false) => {}
                    None => {
                        found.unclear.insert(format!("{name} has an unknown level"));
                    }
                }
            }
        }
    }
    for (lock, steps) in blocked {
        let steps: Vec<&str> = steps.into_iter().map(Step::name).collect();
        found.certain.insert(format!("{lock} blocks {}; remove the lock first", steps.join(", ")));
    }
    found.into_found("no lock blocks a step")
}

/// Returns the scope of a lock that concerns a need.
fn concerns<'a>(lock: &'a Lock, need: &AccessNeed) -> Option<&'a str> {
    let at = lock.id.to_lowercase().rfind("/providers/microsoft.authorization/locks/")?;
    let scope = &lock.id[..at];
    // A resource with a locked child cannot be deleted either.
    let is_deleted = need.action.ends_with("/delete") && need.scope.contains("/providers/");
    let is_concerned =
        is_at_or_below(&need.scope, scope) || (is_deleted && is_at_or_below(scope, &need.scope));
    is_concerned.then_some(scope)
}

/// Returns none if the level is unknown.
fn blocks_action(level: &str, action: &str) -> Option<bool> {
    match level.to_ascii_lowercase().as_str() {
        "cannotdelete" => Some(action.ends_with("/delete")),
        "readonly" => Some(!action.ends_with("/read")),
        "notspecified" => Some(false),
        _ => None,
    }
}

/// Relation of an assignment to the caller.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Concern {
    No,
    Perhaps,
    Yes,
}

fn concern(principals: &[Principal], caller: Option<&str>) -> Concern {
    let one = |principal: &Principal| {
        let is_caller = caller.map(|caller| principal.id.eq_ignore_ascii_case(caller));
        // Members of a group cannot be read here.
        let is_group = principal.kind.eq_ignore_ascii_case("Group");
        match is_caller {
            _ if principal.id == EVERYONE => Concern::Yes,
            Some(true) => Concern::Yes,
            Some(false) if !is_group => Concern::No,
            _ => Concern::Perhaps,
        }
    };
    principals.iter().map(one).max().unwrap_or(Concern::No)
}

fn check_deny_assignments(needs: &[AccessNeed], rights: &AccessRules) -> Found {
    let mut found = Obstacles::default();
    let caller = rights.caller.as_deref();
    for need in of_caller(needs) {
        let list = found.read(&rights.deny_assignments, &place(need), "deny assignments");
        for denial in list.unwrap_or_default().iter().map(|assignment| &assignment.properties) {
            let covers = if denial.do_not_apply_to_child_scopes {
                need.scope.eq_ignore_ascii_case(&denial.scope)
            } else {
                is_at_or_below(&need.scope, &denial.scope)
            };
            if !covers || !denial.permissions.iter().any(|one| one.covers(need.action)) {
                continue;
            }
            let [name, scope] =
                [&denial.deny_assignment_name, &denial.scope].map(|text| printable(text));
            let (step, action) = (need.step.name(), need.action);
            let text = format!("{step}: deny assignment {name} on {scope} denies {action}");
            let included = concern(&denial.principals, caller);
            match (included, concern(&denial.exclude_principals, caller)) {
                (Concern::No, _) | (_, Concern::Yes) => {}
                (Concern::Yes, Concern::No) if need.certain => {
                    found.certain.insert(text);
                }
                _ => {
                    found.unclear.insert(format!("{text}, possibly for this identity"));
                }
            }
        }
    }
    found.into_found("no deny assignment blocks a step")
}

#[cfg(test)]
mod tests {
    use mooring_arm::calls::{
        DenyAssignment, DenyAssignmentProperties, LockProperties, Permission,
    };
    use mooring_workflow::{CheckResult, Outcome};

    use super::*;
    use crate::checks::finding::result;
    use crate::checks::{blocks, warns};
    use crate::names::{DENY_ASSIGNMENTS, LOCKS, PERMISSIONS};

    fn check(needs: &[AccessNeed], rights: &AccessRules) -> [CheckResult; 3] {
        [
            result(PERMISSIONS, check_permissions(needs, rights)),
            result(LOCKS, check_locks(needs, rights)),
            result(DENY_ASSIGNMENTS, check_deny_assignments(needs, rights)),
        ]
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
            properties: LockProperties { level: level.to_owned() },
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
            properties: DenyAssignmentProperties {
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
        let mut needs = needs();
        for place in places_of_locks(&needs[1]) {
            rights.locks.insert(place, Reading::Known(vec![lock(SUBNET, "ReadOnly")]));
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
        let one = |id, kind| vec![principal(id, kind)];
        let (me, pass, fail, unknown) =
            (Some("me"), Outcome::Pass, Outcome::Fail, Outcome::Unknown);
        for (principals, excluded, caller, alone, action, wanted) in [
            (everyone(), one("ME", "User"), me, false, "*/read", pass),
            (everyone(), one("aks", "ServicePrincipal"), me, false, "*/read", fail),
            (everyone(), one("aks", "ServicePrincipal"), None, false, "*/read", unknown),
            (everyone(), one("g", "Group"), me, false, "*/read", unknown),
            (one("you", "User"), vec![], me, false, "*/read", pass),
            (one("me", "User"), vec![], me, false, "*/read", fail),
            (one("g", "Group"), vec![], me, false, "*/read", unknown),
            (everyone(), vec![], me, true, "*/read", pass),
            (everyone(), vec![], me, false, "*/join/action", pass),
        ] {
            let (outcome, detail) = check_with(principals, excluded, caller, alone, action);
            assert_eq!(outcome, wanted, "{detail}");
        }
    }
}
