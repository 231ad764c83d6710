use jiff::Timestamp;
use mooring_codes::{Os, image_date};
use mooring_diagnosis::{BootstrapOutcome, Diagnosis, Hints, Origin, diagnose};
use mooring_nodes::claim::{Claim, ClaimMode};
use mooring_nodes::verdict::registration::overdue;
use mooring_nodes::verdict::{ConditionReason, FailureSource, Finding, Verdict, messages, seconds};

use crate::observation::karpenter::{FailureSubject, ProvisioningError};
use crate::observation::{CseState, MachineStatus, Observation, ProvisioningState, VmObservation};

/// Time after the launch from which a missing extension is final: Karpenter creates it after the VM, which
/// takes about a minute.
pub const NO_EXTENSION_AFTER_SECONDS: i64 = 3 * 60;

pub fn evaluate(claim: &Claim, observation: &Observation, now: Timestamp) -> Finding {
    match observation {
        Observation::Vm(vm) => evaluate_vm(claim, vm, now),
        Observation::Machine(machine) => evaluate_machine(claim, machine),
        Observation::Denied { status } => {
            Finding::Passing(Verdict::unavailable(messages::access_denied(*status)))
        }
        Observation::Missing | Observation::Throttled { .. } | Observation::Unreadable { .. } => {
            Finding::Nothing
        }
    }
}

fn evaluate_vm(claim: &Claim, vm: &VmObservation, now: Timestamp) -> Finding {
    match vm.cse() {
        CseState::NotYet => Finding::Nothing,
        CseState::Running if claim.registered.is_some() && vm.is_updating() => {
            Finding::Final(Verdict::succeeded())
        }
        CseState::Running => match given_up_after(claim) {
            Some(minutes) => {
                Finding::Final(Verdict { at: claim.deleted, ..Verdict::out_of_time(minutes) })
            }
            None => {
                Finding::Passing(Verdict::plain(ConditionReason::CseRunning, messages::RUNNING))
            }
        },
        CseState::Absent => {
            let verdict = Verdict::plain(ConditionReason::NoCseExtension, messages::NO_EXTENSION);
            let launched = claim.launched.unwrap_or(claim.created);
            let waited = seconds(launched, now) >= NO_EXTENSION_AFTER_SECONDS;
            match (claim.registered.is_some(), waited, claim.mode()) {
                (true, ..) => Finding::Final(verdict),
                // An instance of a pool has no NodeClaim.
                (false, true, Some(ClaimMode::Vm)) if !claim.uid.is_empty() => Finding::Passing(
                    Verdict::plain(ConditionReason::CseNotCreated, messages::NOT_CREATED),
                ),
                (false, true, _) => Finding::Passing(verdict),
                (false, false, _) => Finding::Nothing,
            }
        }
        CseState::Succeeded { text, os } => {
            let diagnosis = diagnoses(claim, &text, os).into_iter().next();
            // Images of 2025 reported success regardless of the scripts' exit code.
            let failed =
                diagnosis.filter(|diagnosis| diagnosis.outcome == BootstrapOutcome::Failed);
            let verdict = failed.map_or_else(Verdict::succeeded, |diagnosis| {
                Verdict::failed(&diagnosis, FailureSource::InstanceView)
            });
            Finding::Final(Verdict { at: vm.ended_at(), ..verdict })
        }
        CseState::Failed { text, os } => {
            let verdict = failed(diagnoses(claim, &text, os), FailureSource::InstanceView);
            Finding::Final(Verdict { at: vm.ended_at(), ..verdict })
        }
    }
}

/// Returns a failure with the first diagnosis that does not contradict it.
fn failed(diagnoses: Vec<Diagnosis>, source: FailureSource) -> Verdict {
    let mut failures =
        diagnoses.into_iter().filter(|one| one.outcome != BootstrapOutcome::Succeeded);
    match failures.next() {
        Some(failure) => Verdict::failed(&failure, source),
        None => Verdict::failed_silently(source),
    }
}

/// An AKS machine reports less than its VM: its success is that of the whole machine, and its error may have
/// other causes.
fn evaluate_machine(claim: &Claim, machine: &MachineStatus) -> Finding {
    let diagnosis = diagnose(machine.error.as_bytes(), hints(claim, None)).into_iter().next();
    match (machine.progress, diagnosis) {
        (_, Some(diagnosis)) if diagnosis.outcome != BootstrapOutcome::Succeeded => {
            Finding::Final(Verdict::failed(&diagnosis, FailureSource::Machine))
        }
        (ProvisioningState::Succeeded, _) if machine.error.is_empty() => {
            Finding::Final(Verdict::succeeded())
        }
        _ => Finding::Nothing,
    }
}

/// Returns an unconfirmed failure: all that an event allows once nothing else can be read.
pub fn evaluate_event(event: &ProvisioningError, hints: Hints) -> Option<Verdict> {
    if event.about() != FailureSubject::Cse {
        return None;
    }
    let verdict = failed(diagnose(event.text.as_bytes(), hints), FailureSource::KarpenterEvent);
    Some(Verdict { at: Some(event.at), ..verdict })
}

pub fn hints(claim: &Claim, os: Option<Os>) -> Hints {
    let image_date = claim.image.as_deref().and_then(|image| image_date(image).ok());
    Hints { os, image_date, catalog: mooring_catalog::rows(), ..Hints::default() }
}

/// Diagnoses a text of the bootstrap extension.
fn diagnoses(claim: &Claim, text: &str, os: Os) -> Vec<Diagnosis> {
    let hints = Hints { origin: Origin::Extension, ..hints(claim, Some(os)) };
    diagnose(text.as_bytes(), hints)
}

/// Returns the minutes after which Karpenter gave up on the NodeClaim, if it did.
fn given_up_after(claim: &Claim) -> Option<i64> {
    overdue(claim, None, claim.deleted?).map(|overdue| overdue.minutes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_without_its_origin_is_diagnosed_by_the_system() {
        let claim = Claim::placeholder(&"u".into(), "c", None, None, Timestamp::UNIX_EPOCH);
        let first = |text: &str, os| diagnoses(&claim, text, os).into_iter().next();
        let windows = first("non-zero exit code: 5", Os::Windows);
        let linux = first("non-zero exit code: 5", Os::Linux);
        assert_eq!(windows.and_then(|found| found.os), Some(Os::Windows));
        assert_eq!(linux.and_then(|found| found.os), Some(Os::Linux));
        assert!(first("", Os::Linux).is_none());
    }

    #[test]
    fn bootstrap_that_runs_when_karpenter_gives_up_timed_out() {
        let created = Timestamp::UNIX_EPOCH;
        let vm = serde_json::json!({"properties": {"instanceView": {"extensions": [{"name": "vmssCSE",
            "type": "Microsoft.Azure.Extensions.CustomScript",
            "statuses": [{"code": "ProvisioningState/transitioning"}]}]}}});
        let observation = Observation::Vm(VmObservation::of(&serde_json::from_value(vm).unwrap()));
        for (minutes, expected) in
            [(3, ConditionReason::CseRunning), (15, ConditionReason::CseTimedOut)]
        {
            let deleted = created + jiff::SignedDuration::from_mins(minutes);
            let claim = Claim {
                deleted: Some(deleted),
                ..Claim::placeholder(&"u".into(), "c", None, None, created)
            };
            let found = evaluate(&claim, &observation, deleted);
            let (Finding::Final(verdict) | Finding::Passing(verdict)) = found else {
                panic!("nothing after {minutes}m")
            };
            assert_eq!(verdict.reason, expected);
            assert_eq!(verdict.message.contains("after 15m"), minutes == 15, "{verdict:?}");
        }
    }

    #[test]
    fn missing_extension_is_final_only_after_minutes() {
        let launched = Timestamp::UNIX_EPOCH;
        let claim = |uid: &str, image: &str| Claim {
            launched: Some(launched),
            image: Some(image.into()),
            ..Claim::placeholder(&uid.into(), "c", None, None, launched)
        };
        let vm = "/subscriptions/s/galleries/g/images/i";
        let status =
            VmObservation { progress: ProvisioningState::Succeeded, ..VmObservation::default() };
        let observation = Observation::Vm(status);
        for (claim, seconds, expected) in [
            (claim("u", vm), 179, None),
            (claim("u", vm), 180, Some(ConditionReason::CseNotCreated)),
            (claim("u", "other"), 180, Some(ConditionReason::NoCseExtension)),
            (claim("", vm), 180, Some(ConditionReason::NoCseExtension)),
        ] {
            let now = launched + jiff::SignedDuration::from_secs(seconds);
            let reason = match evaluate(&claim, &observation, now) {
                Finding::Passing(verdict) => Some(verdict.reason),
                Finding::Nothing => None,
                Finding::Final(verdict) => panic!("{verdict:?}"),
            };
            assert_eq!(reason, expected, "{seconds}");
        }
        let registered = Claim { registered: Some(launched), ..claim("u", vm) };
        let found = evaluate(&registered, &observation, launched);
        assert!(
            matches!(found, Finding::Final(verdict) if verdict.reason == ConditionReason::NoCseExtension)
        );
        let denied = evaluate(&registered, &Observation::Denied { status: 403 }, launched);
        let Finding::Passing(verdict) = denied else { panic!("{denied:?}") };
        assert!(verdict.message.starts_with("Access to the VM was denied (403). "), "{verdict:?}");
    }

    #[test]
    fn machine_with_an_error_has_not_succeeded() {
        let claim = Claim::placeholder(&"u".into(), "c", None, None, Timestamp::UNIX_EPOCH);
        let evaluated = |progress, error: &str| {
            let machine = MachineStatus { name: "m".into(), progress, error: error.to_owned() };
            evaluate(&claim, &Observation::Machine(machine), Timestamp::UNIX_EPOCH)
        };
        let reason = |finding| match finding {
            Finding::Final(verdict) => Some(verdict.reason),
            Finding::Nothing => None,
            Finding::Passing(verdict) => panic!("{verdict:?}"),
        };
        assert_eq!(
            reason(evaluated(ProvisioningState::Succeeded, "")),
            Some(ConditionReason::CseSucceeded)
        );
        assert_eq!(reason(evaluated(ProvisioningState::Succeeded, "some words")), None);
        let failed = "VMExtensionProvisioningError\nVM has reported a failure when processing extension 'vmssCSE'. \
                      Error message: \"Enable failed: failed to execute command: command terminated with exit status=50\"";
        assert_eq!(
            reason(evaluated(ProvisioningState::Succeeded, failed)),
            Some(ConditionReason::CseFailed)
        );
        assert_eq!(reason(evaluated(ProvisioningState::Running, "")), None);
    }
}
