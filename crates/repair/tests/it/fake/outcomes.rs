//! Outcomes of runs.

use mooring_repair::effects::Effect;
use mooring_repair::settings::Settings;
use mooring_repair::workflow::Entry;
use mooring_workflow::{Reason, RunOutcome};

use super::cloud::Cloud;
use super::session::{End, Ended, run_to_rest};

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
