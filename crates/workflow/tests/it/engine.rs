//! The loop between decisions and the world.

use std::collections::BTreeMap;

use jiff::{SignedDuration, Timestamp};
use mooring_workflow::approval::Approval;
use mooring_workflow::world::{AppendError, World};
use mooring_workflow::{
    Decision, EffectResult, Entry, Reading, RunError, RunOutcome, Stop, StopKind, run,
};

use crate::sample::{
    Change, Fact, Finish, POLL, Reason, SESSION, Sample, SampleDecision, SampleRecord, SampleRun,
    SampleSession, SampleStep, Terms, after, at, begun, change, done, finished, intent, second,
    session, shared,
};

/// Logs what the engine does. Time passes only while it sleeps.
struct TestWorld {
    now: Timestamp,
    log: Vec<String>,
    results: BTreeMap<&'static str, Reading<u32>>,
    effect_result: EffectResult,
    append_error: Option<AppendError>,
    interrupted: bool,
    halted: Option<Stop<Sample>>,
}

impl TestWorld {
    fn new() -> Self {
        Self {
            now: at(0),
            log: Vec::new(),
            results: BTreeMap::new(),
            effect_result: EffectResult::Done,
            append_error: None,
            interrupted: false,
            halted: None,
        }
    }

    fn at(second: i64) -> Self {
        Self { now: at(second), ..Self::new() }
    }

    async fn run(&mut self, terms: &Terms) -> Result<RunOutcome<Sample>, RunError> {
        run(self, terms, begun()).await
    }

    /// The log without progress.
    fn actions(&self) -> Vec<&str> {
        self.log.iter().filter(|line| !line.starts_with("next")).map(String::as_str).collect()
    }
}

impl World<Sample> for TestWorld {
    fn now(&self) -> Timestamp {
        self.now
    }

    async fn sleep_until(&mut self, until: Timestamp) {
        self.log.push(format!("sleep until {}", second(until)));
        self.now = until;
    }

    async fn read(&mut self, query: &&'static str) -> (&'static str, Reading<u32>) {
        self.log.push(format!("read {query}"));
        (query, self.results.get(query).cloned().unwrap_or(Reading::Known(1)))
    }

    async fn perform(&mut self, effect: &Change) -> EffectResult {
        self.log.push(format!("perform {}", effect.object));
        self.effect_result.clone()
    }

    async fn append(&mut self, record: &SampleRecord, run: &SampleRun) -> Result<(), AppendError> {
        assert_eq!(
            (run.seq, run.last),
            (record.seq, record.at),
            "the run is that after the change"
        );
        if let Some(error) = &self.append_error {
            return Err(error.clone());
        }
        self.log.push(match &record.entry {
            Entry::Intent(effect) => {
                let attempt = run.attempt(&format!("change {}", effect.object)).unwrap();
                format!("intent {} {}", effect.object, attempt.count)
            }
            Entry::Outcome { key, result } => format!("outcome {key} {result:?}"),
            Entry::StepDone { step, evidence } => format!("done {step:?} {evidence:?}"),
            Entry::Stopped { reason, message } => format!("stopped {reason:?}: {message}"),
            Entry::Finished { finish, left } => format!("finished {finish:?} {left:?}"),
            Entry::Fact(Fact::Noted { text }) => format!("fact {text}"),
            other => format!("{other:?}"),
        });
        Ok(())
    }

    fn interrupted(&self) -> bool {
        self.interrupted
    }

    fn halted(&self) -> Option<Stop<Sample>> {
        self.halted.clone()
    }

    fn progress(&mut self, run: &SampleRun, decision: &SampleDecision) {
        self.log.push(format!("next {:?} {decision:?}", run.step()));
    }
}

fn finish() -> SampleDecision {
    Decision::Finish(Finish::Changed, vec!["a pool".to_owned()])
}

fn wait(until: i64) -> SampleDecision {
    Decision::Wait { until: at(until), why: "for nodes".to_owned() }
}

fn apply(object: &str) -> SampleDecision {
    Decision::Apply(Box::new(change(object)))
}

fn note() -> SampleDecision {
    Decision::Record(Box::new(Fact::Noted { text: "n".to_owned() }))
}

/// Returns these decisions in turn.
fn script(decisions: Vec<SampleDecision>) -> Terms {
    let rest = shared(decisions.into_iter());
    Terms::new(move |_| Ok(rest.borrow_mut().next().unwrap()))
}

fn resumable(reason: Reason, message: &str) -> RunOutcome<Sample> {
    RunOutcome::Resumable { reason, message: message.to_owned() }
}

const FINISHED: Result<RunOutcome<Sample>, RunError> = Ok(RunOutcome::Finished(Finish::Changed));

#[tokio::test]
async fn run_follows_decisions_until_it_is_finished() {
    let mut world = TestWorld::new();
    let evidence = vec!["p".to_owned()];
    let terms = script(vec![
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
    assert_eq!(world.run(&terms).await, FINISHED);
    assert_eq!(
        world.actions(),
        [
            "done Prepare [\"p\"]",
            "fact n",
            "intent a 1",
            "perform a",
            "outcome change a Done",
            "intent a 2",
            "perform a",
            "outcome change a Done",
            "sleep until 30",
            "done Change [\"p\"]",
            "done Verify [\"p\"]",
            "intent b 1",
            "perform b",
            "outcome change b Done",
            "finished Changed [\"a pool\"]",
        ]
    );
    let shown: Vec<_> = world.log.iter().filter(|line| line.starts_with("next")).collect();
    assert_eq!(shown.len(), 10);
    assert!(shown[0].starts_with("next Some(Prepare) Done"), "{}", shown[0]);
    assert!(shown[9].starts_with("next None Finish"), "{}", shown[9]);
}

#[tokio::test]
async fn finished_run_is_not_driven() {
    let mut world = TestWorld::new();
    let terms = script(Vec::new());
    assert_eq!(run(&mut world, &terms, after([finished()])).await, FINISHED);
    assert!(world.log.is_empty(), "{:?}", world.log);
}

#[tokio::test]
async fn resumed_run_continues_after_its_last_record() {
    let mut world = TestWorld::at(9);
    let resumed = after([
        done(SampleStep::Prepare),
        intent("a"),
        Entry::Outcome { key: "change a".to_owned(), result: EffectResult::Done },
        Entry::Resumed(Box::new(session(1))),
    ]);
    let terms = script(vec![apply("a"), finish()]);
    assert_eq!(run(&mut world, &terms, resumed).await, FINISHED);
    assert_eq!(world.actions()[0], "intent a 2");
}

#[tokio::test]
async fn denied_read_stops_the_run_instead_of_waiting() {
    let mut world = TestWorld::new();
    world.results.insert("pools", Reading::Denied("AuthorizationFailed".to_owned()));
    let terms = Terms::new(|cx| cx.view.get("pools").map(|_| finish())).reading(|_| vec!["pools"]);
    let stopped = resumable(Reason::Denied, "pools: AuthorizationFailed");
    assert_eq!(world.run(&terms).await.unwrap(), stopped);
    assert_eq!(world.actions(), ["read pools", "stopped Denied: pools: AuthorizationFailed"]);
}

#[tokio::test]
async fn failed_read_is_repeated_after_the_poll_interval() {
    let mut world = TestWorld::new();
    world.results.insert("pools", Reading::Failed("reset".to_owned()));
    let reads = shared(0);
    let terms = Terms::new(move |cx| {
        *reads.borrow_mut() += 1;
        cx.view.get("pools").or_else(|why| if *reads.borrow() < 3 { Err(why) } else { Ok(1) })?;
        Ok(finish())
    })
    .reading(|_| vec!["pools"]);
    assert_eq!(world.run(&terms).await, FINISHED);
    let poll = POLL.as_secs();
    let (first, second) = (format!("sleep until {poll}"), format!("sleep until {}", 2 * poll));
    let want = ["read pools", &first, "read pools", &second, "read pools"];
    assert_eq!(world.actions()[..5], want);
    let shown = world.log.iter().find(|line| line.starts_with("next")).unwrap();
    assert!(shown.contains("could not be read (reset)"), "{shown}");
}

#[tokio::test]
async fn unrequested_read_is_a_defect_of_the_workflow() {
    let mut world = TestWorld::new();
    let terms = Terms::new(|cx| cx.view.get("quota").map(|_| finish()));
    let error = world.run(&terms).await.unwrap_err();
    assert_eq!(error, RunError::NotRead("\"quota\"".to_owned()));
    assert!(world.log.is_empty(), "{:?}", world.log);
}

#[tokio::test]
async fn view_is_completed_within_the_allowed_rounds() {
    const NAMES: [&str; 5] = ["a", "b", "c", "d", "e"];
    for (rounds, allowed) in [(3, true), (4, false)] {
        let mut world = TestWorld::new();
        // Each result leads to the next query.
        let terms = Terms::new(|_| Ok(finish())).reading(move |cx| {
            let known = NAMES.iter().take_while(|name| cx.view.get(name).is_ok()).count();
            NAMES[..rounds.min(known + 1)].to_vec()
        });
        let result = world.run(&terms).await;
        if allowed {
            assert_eq!(result, FINISHED);
        } else {
            assert_eq!(result, Err(RunError::TooManyRounds));
        }
        let reads: Vec<_> =
            world.actions().into_iter().filter(|line| line.starts_with("read")).collect();
        assert_eq!(reads, ["read a", "read b", "read c"], "{rounds}");
    }
}

#[tokio::test]
async fn one_decision_reads_a_query_once() {
    let mut world = TestWorld::new();
    let terms = Terms::new(|_| Ok(finish())).reading(|_| vec!["a", "b", "a"]);
    assert_eq!(world.run(&terms).await, FINISHED);
    assert_eq!(world.actions()[..2], ["read a", "read b"]);
    assert!(!world.actions()[2].starts_with("read"), "{:?}", world.log);
}

#[tokio::test]
async fn effects_and_facts_outdate_results_that_are_not_kept() {
    for decision in [apply("a"), note()] {
        let mut world = TestWorld::new();
        let decisions = shared(vec![finish(), decision].into_iter().rev());
        let views = shared(Vec::new());
        let seen = std::rc::Rc::clone(&views);
        let terms = Terms::new(move |cx| {
            seen.borrow_mut().push((cx.view_seq, cx.run.seq));
            Ok(decisions.borrow_mut().next().unwrap())
        })
        .reading(|_| vec!["kept zones", "pools"]);
        assert_eq!(world.run(&terms).await, FINISHED);
        let reads: Vec<_> =
            world.actions().into_iter().filter(|line| line.starts_with("read")).collect();
        assert_eq!(reads, ["read kept zones", "read pools", "read pools"]);
        // A part of the view is older than the effect.
        let views = views.borrow();
        assert_eq!(views[0], (0, 0));
        assert_eq!(views[1].0, 0);
        assert!(views[1].1 > 0);
    }
}

#[tokio::test]
async fn view_without_kept_results_is_newer_than_the_last_record() {
    let decisions = [apply("a"), note(), wait(1), Decision::Refresh, Decision::Done(Vec::new())];
    for decision in decisions {
        let text = format!("{decision:?}");
        // Only waits, refreshes and steps drop results that are otherwise kept.
        let drops_all =
            matches!(decision, Decision::Wait { .. } | Decision::Refresh | Decision::Done(_));
        for query in ["pools", "kept zones"] {
            let mut world = TestWorld::new();
            let decisions = shared(vec![decision.clone(), finish()].into_iter());
            let views = shared(Vec::new());
            let seen = std::rc::Rc::clone(&views);
            let terms = Terms::new(move |cx| {
                seen.borrow_mut().push((cx.view_seq, cx.run.seq));
                Ok(decisions.borrow_mut().next().unwrap())
            })
            .reading(move |_| vec![query]);
            assert_eq!(world.run(&terms).await, FINISHED);
            let reads = world.log.iter().filter(|line| line.starts_with("read")).count();
            let is_dropped = drops_all || query == "pools";
            assert_eq!(reads, if is_dropped { 2 } else { 1 }, "{query}: {text}");
            let (view, last) = views.borrow()[1];
            assert_eq!(view == last, is_dropped, "{query}: {text}");
        }
    }
}

#[tokio::test]
async fn halt_stops_the_run_before_anything_is_read() {
    let mut world = TestWorld::new();
    let kind = StopKind::Finished(Finish::Aborted, vec!["a tag".to_owned()]);
    let message = "signed in as another user".to_owned();
    world.halted = Some(Stop { kind, reason: Reason::Denied, message });
    let terms = Terms::new(|_| panic!()).reading(|_| vec!["pools"]);
    assert_eq!(world.run(&terms).await, Ok(RunOutcome::Finished(Finish::Aborted)));
    let stopped = "stopped Denied: signed in as another user";
    assert_eq!(world.actions(), [stopped, "finished Aborted [\"a tag\"]"]);
}

#[tokio::test]
async fn waits_and_effects_end_at_the_deadline() {
    let end = SESSION.as_secs();
    // A wait lasts until the deadline at most.
    let mut world = TestWorld::at(end - 1);
    let terms = script(vec![wait(end + 60), wait(end + 60)]);
    let message = "deadline exceeded while waiting for nodes";
    assert_eq!(world.run(&terms).await.unwrap(), resumable(Reason::Deadline, message));
    assert_eq!(world.actions()[0], format!("sleep until {end}"));

    let mut world = TestWorld::at(end - 1);
    assert_eq!(world.run(&script(vec![apply("a"), finish()])).await, FINISHED);
    let mut world = TestWorld::at(end);
    let message = "deadline exceeded before: change a";
    let outcome = world.run(&script(vec![apply("a")])).await;
    assert_eq!(outcome.unwrap(), resumable(Reason::Deadline, message));
    assert_eq!(world.actions(), [format!("stopped Deadline: {message}")]);

    // What is to be recorded is recorded.
    let mut world = TestWorld::at(end);
    assert_eq!(
        world.run(&script(vec![note(), Decision::Done(Vec::new()), finish()])).await,
        FINISHED
    );
}

#[tokio::test]
async fn wait_ends_at_the_limit_of_its_step() {
    for (now, is_over) in [(59, false), (60, true)] {
        let mut world = TestWorld::at(now);
        let mut terms = script(vec![wait(now + 1), finish()]);
        terms.step_limit = Some(SignedDuration::from_secs(60));
        let outcome = world.run(&terms).await;
        if is_over {
            let stopped = resumable(Reason::StepTimeout, "step timed out while waiting for nodes");
            assert_eq!(outcome.unwrap(), stopped);
        } else {
            assert_eq!(outcome, FINISHED);
        }
    }
    // The time counts from the last step.
    let mut world = TestWorld::at(70);
    let mut terms = script(vec![Decision::Done(Vec::new()), wait(129), wait(131)]);
    terms.step_limit = Some(SignedDuration::from_secs(59));
    assert!(matches!(world.run(&terms).await, Ok(RunOutcome::Resumable { .. })));
    assert_eq!(world.actions()[1], "sleep until 129");
}

#[tokio::test]
async fn interrupted_run_begins_nothing_new() {
    for decision in [wait(5), apply("a")] {
        let mut world = TestWorld::new();
        world.interrupted = true;
        let terms = script(vec![note(), decision]);
        assert_eq!(world.run(&terms).await.unwrap(), resumable(Reason::Interrupted, "interrupted"));
        assert_eq!(world.actions(), ["fact n", "stopped Interrupted: interrupted"]);
    }
}

#[tokio::test]
async fn effect_requires_an_approval_of_this_session() {
    let mut world = TestWorld::new();
    let unapproved = SampleSession { approval: Approval::Rollback, generation: 1 };
    let resumed = after([Entry::Resumed(Box::new(unapproved))]);
    let outcome = run(&mut world, &script(vec![apply("a")]), resumed).await;
    assert_eq!(outcome.unwrap(), resumable(Reason::NotApproved, "no approval covers `change a`"));
    assert_eq!(world.actions(), ["stopped NotApproved: no approval covers `change a`"]);
}

#[tokio::test]
async fn effect_without_a_recorded_intent_is_not_made() {
    for error in [AppendError::LostLock, AppendError::Unavailable("disk full".to_owned())] {
        let mut world = TestWorld::new();
        world.append_error = Some(error.clone());
        assert_eq!(world.run(&script(vec![apply("a")])).await, Err(RunError::Append(error)));
        assert!(world.actions().is_empty(), "{:?}", world.log);
    }
}

#[tokio::test]
async fn stop_can_be_resumed_or_is_final() {
    let mut world = TestWorld::new();
    let terms = script(vec![Decision::resumable(Reason::Denied, "m")]);
    assert_eq!(world.run(&terms).await.unwrap(), resumable(Reason::Denied, "m"));
    assert_eq!(world.actions(), ["stopped Denied: m"]);

    let mut world = TestWorld::new();
    let left = vec!["l".to_owned()];
    let end = Decision::finished(Finish::Aborted, left, Reason::Denied, "m".to_owned());
    assert_eq!(world.run(&script(vec![end])).await, Ok(RunOutcome::Finished(Finish::Aborted)));
    assert_eq!(world.actions(), ["stopped Denied: m", "finished Aborted [\"l\"]"]);
}
