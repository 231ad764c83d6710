//! What is to be said of a claim, from what a read showed.

pub mod advice;
pub mod condition;
pub mod event;
pub mod failure;
pub mod patch;
pub mod registration;
pub mod text;
mod time;
pub mod wording;

use jiff::Timestamp;
use mooring_codes::{Os, image_date};
use mooring_diagnosis::{Diagnosis, Hints, Outcome, Situation, diagnose};

pub use self::time::seconds;
use crate::claim::Claim;
use crate::claim::mode::Mode;
use crate::observation::karpenter::{About, ProvisioningError};
use crate::observation::{Cse, MachineSeen, Observation, Progress, VmSeen};
use crate::verdict::condition::{Reason, Status};
use crate::verdict::failure::{Failure, Source};
use crate::verdict::registration::{AzureState, Cause, ClusterState, Overdue, overdue};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verdict {
    /// The reason; it fixes the status.
    pub reason: Reason,
    /// The condition's message: one line, at most 1 KiB, no secrets.
    pub message: String,
    /// What failed, where something did.
    pub failure: Option<Failure>,
}

/// What became of a look at a claim.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Finding {
    /// Nothing to say yet.
    Nothing,
    /// Something to say, and more may come.
    Passing(Verdict),
    /// The last word on the bootstrap.
    Final(Verdict),
}

/// With no extension this long after the launch, none will come: Karpenter makes it when the VM
/// stands, which takes about a minute.
pub const NO_EXTENSION_AFTER_SECONDS: i64 = 3 * 60;

/// The finding of a read.
pub fn judge(claim: &Claim, observation: &Observation, now: Timestamp) -> Finding {
    match observation {
        Observation::Vm(vm) => judge_vm(claim, vm, now),
        Observation::Machine(machine) => judge_machine(claim, machine),
        Observation::Refused { status } => {
            Finding::Passing(Verdict::unavailable(wording::refused(*status)))
        }
        Observation::Missing | Observation::Throttled { .. } | Observation::Unreadable { .. } => {
            Finding::Nothing
        }
    }
}

fn judge_vm(claim: &Claim, vm: &VmSeen, now: Timestamp) -> Finding {
    match vm.cse() {
        Cse::NotYet => Finding::Nothing,
        Cse::Running if claim.registered.is_some() && vm.is_updating() => {
            Finding::Final(Verdict::plain(Reason::CseSucceeded, wording::SUCCEEDED))
        }
        Cse::Running => match given_up_after(claim) {
            Some(minutes) => Finding::Final(Verdict::out_of_time(minutes)),
            None => Finding::Passing(Verdict::plain(Reason::CseRunning, wording::RUNNING)),
        },
        Cse::Absent => {
            let verdict = Verdict::plain(Reason::NoCseExtension, wording::NO_EXTENSION);
            let launched = claim.launched.unwrap_or(claim.created);
            let waited = seconds(launched, now) >= NO_EXTENSION_AFTER_SECONDS;
            match (claim.registered.is_some(), waited, claim.mode()) {
                (true, ..) => Finding::Final(verdict),
                // An instance of a pool is nobody's claim.
                (false, true, Some(Mode::Vm)) if !claim.uid.is_empty() => {
                    Finding::Passing(Verdict::plain(Reason::CseNotCreated, wording::NOT_CREATED))
                }
                (false, true, _) => Finding::Passing(verdict),
                (false, false, _) => Finding::Nothing,
            }
        }
        Cse::Succeeded { text, os } => {
            let told = diagnoses(claim, &text, Some(os)).into_iter().next();
            // Images of 2025 reported success whatever the scripts' code was.
            match told.filter(|told| told.outcome == Outcome::Failed) {
                Some(told) => Finding::Final(Verdict::failed(&told, Source::InstanceView)),
                None => Finding::Final(Verdict::plain(Reason::CseSucceeded, wording::SUCCEEDED)),
            }
        }
        Cse::Failed { text, os } => {
            let told = diagnoses(claim, &text, Some(os));
            let told = told.into_iter().find(|told| told.outcome != Outcome::Succeeded);
            Finding::Final(match told {
                Some(told) => Verdict::failed(&told, Source::InstanceView),
                None => Verdict::failed_silently(Source::InstanceView),
            })
        }
    }
}

/// An AKS machine tells less than its VM: its success is that of the whole machine, and its error
/// may be about anything.
fn judge_machine(claim: &Claim, machine: &MachineSeen) -> Finding {
    let told = diagnose(machine.error.as_bytes(), hints(claim, None)).into_iter().next();
    match (machine.progress, told) {
        (_, Some(told)) if told.outcome != Outcome::Succeeded => {
            Finding::Final(Verdict::failed(&told, Source::Machine))
        }
        (Progress::Succeeded, _) if machine.error.is_empty() => {
            Finding::Final(Verdict::plain(Reason::CseSucceeded, wording::SUCCEEDED))
        }
        _ => Finding::Nothing,
    }
}

/// An unconfirmed failure: all that an event allows to report once nothing else can be read.
pub fn judge_event(event: &ProvisioningError, hints: Hints) -> Option<Verdict> {
    if event.about() != About::Cse {
        return None;
    }
    let told = diagnose(event.text.as_bytes(), hints);
    let told = told.into_iter().find(|told| told.outcome != Outcome::Succeeded);
    Some(match told {
        Some(told) => Verdict::failed(&told, Source::KarpenterEvent),
        None => Verdict::failed_silently(Source::KarpenterEvent),
    })
}

/// What a claim tells the diagnosis beforehand.
pub fn hints(claim: &Claim, os: Option<Os>) -> Hints {
    let image_date = claim.image.as_deref().and_then(|image| image_date(image).ok());
    Hints { os, image_date }
}

/// The diagnoses of a text that is known to be the bootstrap's own. Where the text alone does not
/// show that, it is told so in Azure's words.
fn diagnoses(claim: &Claim, text: &str, os: Option<Os>) -> Vec<Diagnosis> {
    let hints = hints(claim, os);
    let told = diagnose(text.as_bytes(), hints);
    if !told.is_empty() || text.is_empty() {
        return told;
    }
    let (publisher, kind) = match os {
        Some(Os::Windows) => ("Microsoft.Compute", "CustomScriptExtension"),
        _ => ("Microsoft.Azure.Extensions", "CustomScript"),
    };
    let dressed = format!(
        "VM has reported a failure when processing extension 'vmssCSE' (publisher '{publisher}' and type '{kind}'). Error message: '{text}'"
    );
    diagnose(dressed.as_bytes(), hints)
}

/// After how many minutes Karpenter gave the claim up, if it did.
fn given_up_after(claim: &Claim) -> Option<i64> {
    overdue(claim, None, claim.deleted?).map(|overdue| overdue.minutes)
}

impl Verdict {
    /// The status that goes with the reason.
    pub fn status(&self) -> Status {
        self.reason.status()
    }

    /// A verdict without a failure.
    #[must_use]
    pub fn plain(reason: Reason, message: &str) -> Self {
        Self { reason, message: message.to_owned(), failure: None }
    }

    /// Azure does not tell, and why.
    #[must_use]
    pub fn unavailable(message: String) -> Self {
        Self { reason: Reason::CseStatusUnavailable, message, failure: None }
    }

    /// A bootstrap that failed.
    #[must_use]
    pub fn failed(told: &Diagnosis, source: Source) -> Self {
        let failure = wording::failure(told, source);
        let timed_out = match failure.code {
            Some(code) => matches!(code, 124 | 137),
            // `VMExtensionProvisioningTimeout`: Azure did not hear of the end in time.
            None => told.situation == Some(Situation::TimedOut),
        };
        let reason = match (failure.is_confirmed(), timed_out) {
            (false, _) => Reason::CseFailureUnconfirmed,
            (true, true) => Reason::CseTimedOut,
            (true, false) => Reason::CseFailed,
        };
        Self { reason, message: wording::condition(&failure), failure: Some(failure) }
    }

    /// It failed, and nothing tells why.
    #[must_use]
    pub fn failed_silently(source: Source) -> Self {
        let failure = wording::silent_failure(source);
        let confirmed = failure.is_confirmed();
        Self {
            reason: if confirmed { Reason::CseFailed } else { Reason::CseFailureUnconfirmed },
            message: wording::condition(&failure),
            failure: Some(failure),
        }
    }

    fn out_of_time(minutes: i64) -> Self {
        let failure = wording::out_of_time(minutes);
        Self {
            reason: Reason::CseTimedOut,
            message: wording::condition(&failure),
            failure: Some(failure),
        }
    }

    /// A node that did not register, with the finest cause that is proven.
    #[must_use]
    pub fn not_registered(
        claim: &Claim,
        azure: AzureState,
        cluster: ClusterState,
        overdue: Overdue,
    ) -> Self {
        let cause = Cause::of(claim.mode(), azure, cluster);
        let failure = registration::failure(claim, cause, overdue);
        let mut message = wording::condition(&failure);
        if overdue.is_idle {
            message.push_str(wording::IDLE);
        }
        Self { reason: Reason::NodeNotRegistered, message, failure: Some(failure) }
    }

    /// What makes this verdict another than the last one, for events: not its wording.
    pub fn key(&self) -> String {
        let failure = self.failure.as_ref();
        let code = failure
            .and_then(|failure| failure.code)
            .map_or_else(String::new, |code| code.to_string());
        format!("{}/{code}/{}", self.reason.as_str(), failure.map_or("", |failure| &failure.cause))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_machine_with_an_error_has_not_succeeded() {
        let claim = Claim::vanished(&"u".into(), "c", None, None, Timestamp::UNIX_EPOCH);
        let judged = |progress, error: &str| {
            let machine = MachineSeen { name: "m".into(), progress, error: error.to_owned() };
            judge(&claim, &Observation::Machine(machine), Timestamp::UNIX_EPOCH)
        };
        let reason = |finding| match finding {
            Finding::Final(verdict) => Some(verdict.reason),
            Finding::Nothing => None,
            Finding::Passing(verdict) => panic!("{verdict:?}"),
        };
        assert_eq!(reason(judged(Progress::Succeeded, "")), Some(Reason::CseSucceeded));
        assert_eq!(reason(judged(Progress::Succeeded, "some words")), None);
        let failed = "VMExtensionProvisioningError\nVM has reported a failure when processing extension 'vmssCSE'. \
                      Error message: \"Enable failed: failed to execute command: command terminated with exit status=50\"";
        assert_eq!(reason(judged(Progress::Succeeded, failed)), Some(Reason::CseFailed));
        assert_eq!(reason(judged(Progress::Running, "")), None);
    }
}
