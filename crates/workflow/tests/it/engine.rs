//! The loop between decisions and their effects.

use jiff::{SignedDuration, Timestamp};
use mooring_workflow::approval::Approval;
use mooring_workflow::store::StoreError;
use mooring_workflow::{
    Decision, EffectResult, Entry, Finish, Host, NotRead, Reason, RunOutcome, Stop, run,
};

use crate::sample::{
    Decisions, POLL, SESSION, Sample, SampleDecision, SampleEntry, SampleRun, SampleSession,
    SampleStep, after, at, begun, change, done, finished, intent, noted, second, session,
};

/// Logs what the engine does. Time passes only while it sleeps.
struct TestHost {
    now: Timestamp,
    log: Vec<String>,
    append_error: Option<StoreError>,
    interrupted: bool,
}

impl TestHost {
    fn at(second: i64) -> Self {
        Self { now: at(second), log: Vec::new(), append_error: None, interrupted: false }
    }

    async fn run(&mut self, mut decisions: Decisions) -> Result<RunOutcome, StoreError> {
        run(self, &mut decisions, begun()).await
    }

    /// The log without progress.
    fn actions(&self) -> Vec<&str> {
        self.log.iter().filter(|line| !line.starts_with("next")).map(String::as_str).collect()
    }
}

impl Host<Sample> for TestHost {
    fn now(&self) -> Timestamp {
        self.now
    }

    async fn sleep_until(&mut self, until: Timestamp) {
        self.log.push(format!("sleep until {}", second(until)));
        self.now = until;
    }

    async fn append(&mut self, entry: &SampleEntry, run: &SampleRun) -> Result<(), StoreError> {
        assert_eq!(run.last, self.now, "the run is that after the change");
        if let Some(error) = &self.append_error {
            return Err(error.clone());
        }
        self.log.push(match entry {
            Entry::Intent(effect) => {
                let attempt = run.attempt(&format!("change {}", effect.object)).unwrap();
                format!("intent {} {}", effect.object, attempt.count)
            }
            Entry::Outcome { key, result } => format!("outcome {key} {result:?}"),
            Entry::StepDone { step, evidence } => format!("done {step:?} {evidence:?}"),
            Entry::Stopped { reason, message } => format!("stopped {reason:?}: {message}"),
            Entry::Finished { finish, left } => format!("finished {finish:?} {}", left.len()),
            Entry::Note(_) => format!("facts {:?}", run.facts),
            other => format!("{other:?}"),
        });
        Ok(())
    }

    fn interrupted(&self) -> bool {
        self.interrupted
    }

    fn progress(&mut self, run: &SampleRun, decision: &SampleDecision) {
        self.log.push(format!("next {:?} {decision:?}", run.step()));
    }
}

fn finish() -> SampleDecision {
    Decision::Finish(Finish::Complete, vec!["a pool".to_owned().into()])
}

fn wait(until: i64) -> SampleDecision {
    Decision::Wait { until: at(until), why: "for nodes".to_owned() }
}

fn apply(object: &str) -> SampleDecision {
    Decision::Apply(Box::new(change(object)))
}

fn note() -> SampleDecision {
    Decision::Note(Box::new(noted(&[], "n")))
}

/// Returns these decisions in turn.
fn script(decisions: Vec<SampleDecision>) -> Decisions {
    let mut rest = decisions.into_iter();
    Decisions::new(move |_| Ok(rest.next().unwrap()))
}

fn resumable(reason: Reason, message: &str) -> RunOutcome {
    RunOutcome::Resumable { reason, message: message.to_owned() }
}

const FINISHED: Result<RunOutcome, StoreError> = Ok(RunOutcome::Finished(Finish::Complete));

#[tokio::test]
async fn run_follows_decisions_until_it_is_finished() {
    let mut host = TestHost::at(0);
    let evidence = vec!["p".to_owned()];
    let decisions = script(vec![
        Decision::Done(evidence.clone()),
        note(),
        apply("a"),
        apply("a"),
        wait(30),
        Decision::Refresh,
        Decision::Done(evidence.clone()),
        Decision::Done(evidence),
        apply("b"),
        finish(),
    ]);
    assert_eq!(host.run(decisions).await, FINISHED);
    assert_eq!(
        host.actions(),
        [
            "done Prepare [\"p\"]",
            "facts [\"n\"]",
            "intent a 1",
            "outcome change a Done",
            "intent a 2",
            "outcome change a Done",
            "sleep until 30",
            "done Change [\"p\"]",
            "done Verify [\"p\"]",
            "intent b 1",
            "outcome change b Done",
            "finished Complete 1",
        ]
    );
    let shown: Vec<_> = host.log.iter().filter(|line| line.starts_with("next")).collect();
    assert_eq!(shown.len(), 10);
    assert!(shown[0].starts_with("next Some(Prepare) Done"), "{}", shown[0]);
    assert!(shown[9].starts_with("next None Finish"), "{}", shown[9]);
}

#[tokio::test]
async fn finished_run_is_not_driven() {
    let mut host = TestHost::at(0);
    let mut decisions = script(Vec::new());
    assert_eq!(run(&mut host, &mut decisions, after([finished()])).await, FINISHED);
    assert!(host.log.is_empty(), "{:?}", host.log);
}

#[tokio::test]
async fn resumed_run_continues_after_its_last_record() {
    let mut host = TestHost::at(9);
    let resumed = after([
        done(SampleStep::Prepare),
        intent("a"),
        Entry::Outcome { key: "change a".to_owned(), result: EffectResult::Done },
        Entry::Resumed(Box::new(session(1))),
    ]);
    let mut decisions = script(vec![apply("a"), finish()]);
    assert_eq!(run(&mut host, &mut decisions, resumed).await, FINISHED);
    assert_eq!(host.actions()[0], "intent a 2");
}

#[tokio::test]
async fn denied_read_stops_the_run_instead_of_waiting() {
    let mut host = TestHost::at(0);
    let denied = NotRead::Denied(Reason::NotPermitted, "pools: denied".to_owned());
    let decisions = Decisions::new(move |_| Err(denied.clone()));
    let stopped = resumable(Reason::NotPermitted, "pools: denied");
    assert_eq!(host.run(decisions).await.unwrap(), stopped);
    assert_eq!(host.actions(), ["stopped NotPermitted: pools: denied"]);
}

#[tokio::test]
async fn failed_read_is_repeated_after_the_poll_interval() {
    let mut host = TestHost::at(0);
    let mut reads = 0;
    let decisions = Decisions::new(move |_| {
        reads += 1;
        if reads < 3 { Err(NotRead::Failed("for pools (reset)".to_owned())) } else { Ok(finish()) }
    });
    assert_eq!(host.run(decisions).await, FINISHED);
    let poll = POLL.as_secs();
    let (first, second) = (format!("sleep until {poll}"), format!("sleep until {}", 2 * poll));
    assert_eq!(host.actions()[..2], [first, second]);
    assert!(host.log[0].contains("for pools (reset)"), "{}", host.log[0]);
}

#[tokio::test]
async fn waits_and_effects_end_at_the_deadline() {
    let end = SESSION.as_secs();
    // A wait lasts until the deadline at most.
    let mut host = TestHost::at(end - 1);
    let message = "deadline exceeded while waiting for nodes";
    let outcome = host.run(script(vec![wait(end + 60), wait(end + 60)])).await;
    assert_eq!(outcome.unwrap(), resumable(Reason::Deadline, message));
    assert_eq!(host.actions()[0], format!("sleep until {end}"));

    let mut host = TestHost::at(end - 1);
    assert_eq!(host.run(script(vec![apply("a"), finish()])).await, FINISHED);
    let mut host = TestHost::at(end);
    let message = "deadline exceeded before: change a";
    let outcome = host.run(script(vec![apply("a")])).await;
    assert_eq!(outcome.unwrap(), resumable(Reason::Deadline, message));
    assert_eq!(host.actions(), [format!("stopped Deadline: {message}")]);

    // What is to be recorded is recorded.
    let mut host = TestHost::at(end);
    let recorded = script(vec![note(), Decision::Done(Vec::new()), finish()]);
    assert_eq!(host.run(recorded).await, FINISHED);
}

#[tokio::test]
async fn wait_ends_at_the_limit_of_its_step() {
    for (now, is_over) in [(59, false), (60, true)] {
        let mut host = TestHost::at(now);
        let mut decisions = script(vec![wait(now + 1), finish()]);
        decisions.step_limit = Some(SignedDuration::from_secs(60));
        let outcome = host.run(decisions).await;
        if is_over {
            let stopped = resumable(Reason::StepTimeout, "step timed out while waiting for nodes");
            assert_eq!(outcome.unwrap(), stopped);
        } else {
            assert_eq!(outcome, FINISHED);
        }
    }
    // The time counts from the last step.
    let mut host = TestHost::at(70);
    let mut decisions = script(vec![Decision::Done(Vec::new()), wait(129), wait(131)]);
    decisions.step_limit = Some(SignedDuration::from_secs(59));
    assert!(matches!(host.run(decisions).await, Ok(RunOutcome::Resumable { .. })));
    assert_eq!(host.actions()[1], "sleep until 129");
}

#[tokio::test]
async fn interrupted_run_begins_nothing_new() {
    for decision in [wait(5), apply("a")] {
        let mut host = TestHost { interrupted: true, ..TestHost::at(0) };
        let outcome = host.run(script(vec![note(), decision])).await;
        assert_eq!(outcome.unwrap(), resumable(Reason::Interrupted, "interrupted"));
        assert_eq!(host.actions(), ["facts [\"n\"]", "stopped Interrupted: interrupted"]);
    }
}

#[tokio::test]
async fn effect_requires_an_approval_of_this_session() {
    let mut host = TestHost::at(0);
    let unapproved = SampleSession { approval: Approval::Rollback, generation: 1 };
    let resumed = after([Entry::Resumed(Box::new(unapproved))]);
    let mut decisions = script(vec![apply("a")]);
    let outcome = run(&mut host, &mut decisions, resumed).await;
    assert_eq!(outcome.unwrap(), resumable(Reason::NotApproved, "no approval covers `change a`"));
    assert_eq!(host.actions(), ["stopped NotApproved: no approval covers `change a`"]);
    assert!(decisions.effects.borrow().is_empty());
}

#[tokio::test]
async fn effect_without_a_recorded_intent_is_not_made() {
    for error in [StoreError::LostLock, StoreError::Unavailable("disk full".to_owned())] {
        let mut host = TestHost { append_error: Some(error.clone()), ..TestHost::at(0) };
        let decisions = script(vec![apply("a")]);
        let effects = std::rc::Rc::clone(&decisions.effects);
        assert_eq!(host.run(decisions).await, Err(error));
        assert!(host.actions().is_empty() && effects.borrow().is_empty(), "{:?}", host.log);
    }
}

#[tokio::test]
async fn stop_can_be_resumed_or_is_final() {
    let mut host = TestHost::at(0);
    let decisions = script(vec![Decision::resumable(Reason::CheckFailed, "m")]);
    assert_eq!(host.run(decisions).await.unwrap(), resumable(Reason::CheckFailed, "m"));
    assert_eq!(host.actions(), ["stopped CheckFailed: m"]);

    let mut host = TestHost::at(0);
    let end = Some((Finish::Aborted, vec!["l".to_owned().into()]));
    let stop = Stop { reason: Reason::CheckFailed, message: "m".to_owned(), end };
    let outcome = host.run(script(vec![Decision::Stop(stop)])).await;
    assert_eq!(outcome, Ok(RunOutcome::Finished(Finish::Aborted)));
    assert_eq!(host.actions(), ["stopped CheckFailed: m", "finished Aborted 1"]);
}
