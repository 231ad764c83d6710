//! The check `deny-assignments`: no deny assignment blocks a step of the run.

use mooring_arm::calls::Principal;
use mooring_redact::printable;
use mooring_workflow::CheckResult;

use super::needs::{AccessNeed, Actor, is_at_or_below, place};
use super::permissions::{Findings, at, needs_of};
use crate::checks::DENY_ASSIGNMENTS;
use crate::checks::capacity::{AccessRules, Planning};

/// Principal of a deny assignment for everyone.
pub(in crate::checks) const EVERYONE: &str = "00000000-0000-0000-0000-000000000000";

pub(in crate::checks) fn deny_assignments(plan: &Planning<'_>) -> CheckResult {
    check_deny_assignments(&needs_of(plan), &plan.capacity.rights)
}

/// Relation of an assignment to the caller.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Concern {
    No,
    Perhaps,
    Yes,
}

fn concerns(principals: &[Principal], caller: Option<&str>) -> Concern {
    let one = |principal: &Principal| {
        let is_caller = caller.map(|caller| principal.id.eq_ignore_ascii_case(caller));
        match is_caller {
            _ if principal.id == EVERYONE => Concern::Yes,
            Some(true) => Concern::Yes,
            // Members of a group cannot be read here.
            _ if principal.kind.eq_ignore_ascii_case("Group") => Concern::Perhaps,
            None => Concern::Perhaps,
            Some(false) => Concern::No,
        }
    };
    principals.iter().map(one).max().unwrap_or(Concern::No)
}

pub(in crate::checks) fn check_deny_assignments(
    needs: &[AccessNeed],
    rights: &AccessRules,
) -> CheckResult {
    let mut findings = Findings::default();
    for need in needs.iter().filter(|need| need.actor == Actor::Caller) {
        let place = place(need);
        let Some(list) = at(&rights.deny_assignments, &place, "deny assignments", &mut findings)
        else {
            continue;
        };
        for assignment in list {
            let denial = &assignment.properties;
            let covers = if denial.do_not_apply_to_child_scopes {
                need.scope.eq_ignore_ascii_case(&denial.scope)
            } else {
                is_at_or_below(&need.scope, &denial.scope)
            };
            if !covers || !denial.permissions.iter().any(|one| one.covers(need.action)) {
                continue;
            }
            let caller = rights.caller.as_deref();
            let text = format!(
                "{}: deny assignment {} on {} denies {}",
                need.step.name(),
                printable(&denial.deny_assignment_name),
                printable(&denial.scope),
                need.action
            );
            let included = concerns(&denial.principals, caller);
            let excluded = concerns(&denial.exclude_principals, caller);
            match (included, excluded) {
                (Concern::No, _) | (_, Concern::Yes) => {}
                (Concern::Yes, Concern::No) if need.certain => {
                    findings.forbidden.insert(text);
                }
                _ => {
                    findings.unclear.insert(format!("{text}, possibly for this identity"));
                }
            }
        }
    }
    findings.into_check(DENY_ASSIGNMENTS, "no deny assignment blocks a step".to_owned())
}
