//! Outcomes of runs.

use mooring_repair::effects::Effect;
use mooring_repair::plan::Step;
use mooring_repair::settings::Settings;
use mooring_repair::workflow::Entry;
use mooring_workflow::{Finish, Reason, RunOutcome};

use super::cloud::Cloud;
use super::scenarios::settings;
use super::session::{End, Ended, recover, run_to_rest, undo, until};

pub(crate) fn rest(end: &End) -> RunOutcome {
    match &end.ended {
        Ended::Stopped(rest) => rest.clone(),
        other => panic!("{other:?}"),
    }
}

pub(crate) fn once(cloud: Cloud, settings: &Settings) -> End {
    run_to_rest(cloud, settings, &[], None, 0)
}

pub(crate) fn effects(cloud: &Cloud) -> Vec<Effect> {
    let effects = cloud.journal.iter().filter_map(|record| match record {
        Entry::Intent(effect) => Some((**effect).clone()),
        _ => None,
    });
    effects.collect()
}

pub(crate) fn keys(cloud: &Cloud) -> Vec<String> {
    effects(cloud).iter().map(Effect::key).collect()
}

pub(crate) fn stopped(end: &End) -> (Reason, String) {
    match rest(end) {
        RunOutcome::Resumable { reason, message } => (reason, message),
        other @ RunOutcome::Finished(_) => panic!("{other:?}"),
    }
}

/// A run that was killed after this step, and what changed since.
pub(crate) fn changed(step: Step, change: impl FnOnce(&mut Cloud)) -> Cloud {
    let mut cloud = until(step, &settings(), Cloud::wedged).borrow().clone();
    change(&mut cloud);
    cloud
}

pub(crate) fn assert_finished(end: &End, finish: Finish) {
    assert_eq!(end.ended, Ended::Stopped(RunOutcome::Finished(finish)));
}

/// Fails unless the run stops for this reason, with a message that has all parts.
pub(crate) fn assert_stopped(end: &End, reason: Reason, parts: &[&str]) {
    let (found, message) = stopped(end);
    assert_eq!(found, reason, "{message}");
    for part in parts {
        assert!(message.contains(part), "{part}: {message}");
    }
}

/// Resumes a run, which stops for this reason before its next effect.
pub(crate) fn refuses(cloud: &Cloud, settings: &Settings, reason: Reason, parts: &[&str]) -> Cloud {
    let end = recover(cloud, settings, None);
    assert_stopped(&end, reason, parts);
    let end = end.cloud.borrow().clone();
    assert_eq!(keys(&end), keys(cloud), "{reason:?}");
    end
}

/// Resumes a run, which completes.
pub(crate) fn completes(cloud: &Cloud, settings: &Settings) -> Cloud {
    let end = recover(cloud, settings, None);
    assert_finished(&end, Finish::Complete);
    end.cloud.borrow().clone()
}

/// Rolls a run back.
pub(crate) fn rolls_back(cloud: &Cloud) -> Cloud {
    let end = undo(cloud, None);
    assert_finished(&end, Finish::Aborted);
    let end = end.cloud.borrow().clone();
    assert_eq!(end.end_state()["cordoned"], 0);
    end
}
