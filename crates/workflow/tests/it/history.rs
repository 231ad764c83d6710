//! The history of a run, for reports.

use mooring_workflow::report::{RunHistory, StepReport};
use mooring_workflow::{EffectResult, Entry};

use crate::sample::{
    Sample, SampleEntry, SampleStep, at, chain, change, done, intent, session, started, stopped,
};

fn history(entries: Vec<SampleEntry>) -> RunHistory<Sample> {
    RunHistory::read(&chain(entries)).unwrap().unwrap()
}

#[test]
fn history_lists_steps_effects_and_the_last_stop() {
    let entries = vec![
        started(),
        done(SampleStep::Prepare),
        intent("a"),
        Entry::Outcome { key: "change a".to_owned(), result: EffectResult::Done },
        intent("b"),
        stopped("m"),
    ];
    let first = history(entries.clone());
    assert_eq!((first.run.id.as_str(), first.last), ("r1", at(5)));
    let evidence = vec!["prepare is done".to_owned()];
    assert_eq!(first.steps, [StepReport { step: SampleStep::Prepare, at: at(1), evidence }]);
    let effects = [(at(2), change("a"), Some(EffectResult::Done)), (at(4), change("b"), None)];
    assert_eq!(first.effects, effects);
    assert_eq!(first.stopped.as_deref(), Some("m"));
    assert!(RunHistory::<Sample>::read(&[]).unwrap().is_none());
    for (generation, steps) in [(1, 1), (2, 0)] {
        let mut entries = entries.clone();
        entries.push(Entry::Resumed(Box::new(session(generation))));
        let resumed = history(entries);
        assert_eq!((resumed.stopped, resumed.steps.len()), (None, steps), "{generation}");
    }
}

#[test]
fn history_is_that_of_the_last_run() {
    let mut records = chain(vec![started(), done(SampleStep::Prepare), crate::sample::finished()]);
    let next = mooring_workflow::journal::follow(records.last(), "r2", at(9), started());
    records.push(next);
    let last = RunHistory::<Sample>::read(&records).unwrap().unwrap();
    assert_eq!((last.run.id.as_str(), last.steps.len(), last.last), ("r2", 0, at(9)));
}
