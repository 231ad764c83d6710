//! The check `locks`: no resource lock blocks a step of the run.

use std::collections::{BTreeMap, BTreeSet};

use mooring_arm::calls::Lock;
use mooring_redact::printable;
use mooring_workflow::CheckResult;

use super::needs::{AccessNeed, is_at_or_below, places_of_locks};
use super::permissions::{Findings, at, needs_of};
use crate::checks::LOCKS;
use crate::checks::capacity::{AccessRules, Planning};
use crate::plan::Step;

pub(in crate::checks) fn locks(plan: &Planning<'_>) -> CheckResult {
    check_locks(&needs_of(plan), &plan.capacity.rights)
}

/// Returns none if the level is unknown.
fn blocks_action(level: &str, action: &str) -> Option<bool> {
    let deletes = action.ends_with("/delete");
    match level.to_ascii_lowercase().as_str() {
        "cannotdelete" => Some(deletes),
        "readonly" => Some(!action.ends_with("/read")),
        "notspecified" => Some(false),
        _ => None,
    }
}

pub(in crate::checks) fn check_locks(needs: &[AccessNeed], rights: &AccessRules) -> CheckResult {
    let mut findings = Findings::default();
    let mut forbidden: BTreeMap<String, BTreeSet<Step>> = BTreeMap::new();
    for need in needs {
        for scope in places_of_locks(need) {
            let Some(list) = at(&rights.locks, &scope, "locks", &mut findings) else { continue };
            for lock in list {
                let Some(locked) = scope_of(lock).filter(|locked| {
                    // A resource with a locked child cannot be deleted either.
                    is_at_or_below(&need.scope, locked)
                        || need.action.ends_with("/delete")
                            && need.scope.contains("/providers/")
                            && is_at_or_below(locked, &need.scope)
                }) else {
                    continue;
                };
                let level = &lock.properties.level;
                let name = format!(
                    "lock {} ({}) on {}",
                    printable(&lock.name),
                    printable(level),
                    printable(locked)
                );
                match blocks_action(level, need.action) {
                    Some(true) if !need.certain => {
                        let step = need.step.name();
                        findings.unclear.insert(format!("{name} may block {step}"));
                    }
                    Some(true) => {
                        forbidden.entry(name).or_default().insert(need.step);
                    }
                    Some(false) => {}
                    None => {
                        findings.unclear.insert(format!("{name} has an unknown level"));
                    }
                }
            }
        }
    }
    for (lock, steps) in forbidden {
        let steps: Vec<&str> = steps.into_iter().map(Step::name).collect();
        findings
            .forbidden
            .insert(format!("{lock} blocks {}; remove the lock first", steps.join(", ")));
    }
    findings.into_check(LOCKS, "no lock blocks a step".to_owned())
}

fn scope_of(lock: &Lock) -> Option<&str> {
    let at = lock.id.to_lowercase().rfind("/providers/microsoft.authorization/locks/")?;
    Some(&lock.id[..at])
}
