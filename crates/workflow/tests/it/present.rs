//! The status, documents and screens of a run.

use jiff::Timestamp;
use mooring_terminal::{Screen, Style};
use mooring_workflow::lock::Lock;
use mooring_workflow::published::{
    CheckState, ClusterIdentity, Evidence, Next, PublishedCheck, PublishedDocument, Source,
    SourceName, escape_hidden, to_json,
};
use mooring_workflow::screens;
use mooring_workflow::status::{LockStatus, RunStatus, Subject};
use mooring_workflow::{CheckResult, EffectResult, Entry, Outcome};
use serde_json::json;

use crate::sample::{
    Sample, SampleEntry, SampleStep, after, at, done, finished, intent, session, stopped,
};
use crate::stores::owner;

/// A Lease that was renewed at this second.
fn lease(second: i64) -> Lock {
    Lock { owner: owner("vm-1"), heartbeat: at(second) }
}

fn status(entries: Vec<SampleEntry>, lock: Option<&Lock>, now: Timestamp) -> RunStatus {
    RunStatus::new::<Sample>(&after(entries), "file j".to_owned(), lock, now)
}

fn entries() -> Vec<SampleEntry> {
    vec![done(SampleStep::Prepare), intent("a")]
}

fn refused() -> SampleEntry {
    let (code, message) = (String::new(), "in use".to_owned());
    let result = EffectResult::Refused { status: 409, code, message, retry_after: None };
    Entry::Outcome { key: "change a".to_owned(), result }
}

#[test]
fn status_of_a_driven_run_estimates_its_end() {
    let lock = lease(40);
    let run = status(entries(), Some(&lock), at(41));
    assert_eq!((run.state, run.is_running(), run.is_stopped()), ("running", true, false));
    assert_eq!((run.started_at, run.last_at, run.elapsed(at(41))), (at(0), at(2), 41));
    let step = run.step.as_ref().unwrap();
    assert_eq!((step.number, step.name, step.started_at), (2, "change", at(1)));
    assert_eq!((step.seconds, step.expected_seconds), (40, Some(130)));
    // 90 of the 130 seconds of the step remain, and 60 of the next one.
    assert_eq!(run.ends_at, Some(at(41 + 90 + 60)));
    let late = status(entries(), Some(&lease(500)), at(500));
    assert_eq!(late.ends_at, Some(at(500 + 60)));
    let done = &run.steps[0];
    assert_eq!((run.steps.len(), done.number, done.name, done.seconds), (1, 1, "prepare", 1));
    assert_eq!(done.evidence, Evidence::list(&["prepare is done".to_owned()], None));
    let point = run.point_of_no_return.unwrap();
    assert_eq!((point.number, point.name, point.is_passed), (2, "change", true));
    assert_eq!(run.effects[0].at, Some(at(2)));
    let expected =
        LockStatus { host: "vm-1".to_owned(), pid: 1, heartbeat_at: at(40), is_expired: false };
    assert_eq!(run.lock, Some(expected));
}

#[test]
fn status_without_a_holder_is_stopped() {
    let expired = lease(0);
    for lock in [None, Some(&expired)] {
        let run = status(entries(), lock, at(100));
        assert_eq!((run.state, run.is_running(), run.is_stopped()), ("stopped", false, true));
        assert_eq!((run.ends_at, run.elapsed(at(100))), (None, 2));
        assert_eq!(run.step.unwrap().number, 2);
    }
}

#[test]
fn status_shows_rollbacks_and_ends() {
    let mut entries = entries();
    entries.push(Entry::AbortStarted(Box::new(session(1))));
    let lock = lease(99);
    let run = status(entries.clone(), Some(&lock), at(100));
    assert_eq!((run.state, run.step.is_none(), run.is_running()), ("rolling-back", true, true));
    assert_eq!(status(entries, None, at(100)).state, "stopped");
    let run = status(vec![finished()], Some(&lock), at(100));
    assert_eq!((run.state, run.step.is_none(), run.ends_at), ("changed", true, None));
    assert!(!run.is_running() && !run.is_stopped());
}

#[test]
fn seconds_are_never_negative() {
    let run = status(entries(), Some(&lease(0)), at(-50));
    assert_eq!((run.step.as_ref().unwrap().seconds, run.elapsed(at(-50))), (0, 0));
    assert_eq!(run.ends_at, Some(at(-50 + 130 + 60)));
}

#[test]
fn subject_is_a_member_of_the_document() {
    let run = serde_json::to_value(status(entries(), None, at(9))).unwrap();
    assert_eq!(
        (&run["pool"], &run["runId"], &run["stopped"]),
        (&json!("system"), &json!("r1"), &json!(null))
    );
    assert_eq!(Subject::Profile("p".to_owned()).name(), "p");
}

fn text(screen: &Screen) -> String {
    screen.render(&Style::PIPE)
}

fn runs(runs: &[RunStatus], now: Timestamp, is_wide: bool) -> String {
    text(&screens::runs(runs, now, is_wide))
}

#[test]
fn table_of_a_running_run_has_its_progress() {
    let mut entries = entries();
    entries.push(refused());
    let run = status(entries, Some(&lease(40)), at(41));
    let expected = "\
POOL    RUN  STATE      STEP        STEP TIME  USUAL  ENDS
system  r1   ! running  2/3 change        40s  2m10s  06:43
█│▒░  last change: change a: in use; `abort` cannot roll it back; only `resume` continues
";
    assert_eq!(runs(std::slice::from_ref(&run), at(41), false), expected);
    let wide = "\
POOL    RUN  STATE      STEP        STEP TIME  USUAL  STARTED  ENDS   LOCK
system  r1   ! running  2/3 change        40s  2m10s  06:40    06:43  vm-1 (pid 1), 1s ago
";
    assert!(runs(&[run], at(41), true).starts_with(wide));
}

#[test]
fn table_of_stopped_and_finished_runs_names_each() {
    let begun = vec![done(SampleStep::Prepare), stopped("interrupted")];
    let stopped = status(begun, Some(&lease(0)), at(100));
    let ended = status(vec![finished()], None, at(100));
    let expected = "\
POOL    RUN  STATE      STEP        STEP TIME  USUAL  ENDS
system  r1   ✗ stopped  2/3 change      1m39s  2m10s
system  r1   ✓ changed                                06:40
system  █│▒░  `abort` rolls it back
stopped  interrupted
";
    let table = runs(&[stopped.clone(), ended.clone()], at(100), false);
    let table: Vec<&str> = table.lines().map(str::trim_end).collect();
    assert_eq!(table, expected.lines().collect::<Vec<_>>());
    let wide = runs(&[stopped], at(100), true);
    assert!(wide.contains("vm-1 (pid 1), 1m40s ago, expired"), "{wide}");
    let profile = RunStatus { subject: Subject::Profile("p".to_owned()), ..ended };
    assert!(runs(&[profile], at(100), false).starts_with("PROFILE  RUN"));
}

#[test]
fn marks_of_runs_show_which_ones_need_attention() {
    let ended = status(vec![finished()], None, at(9));
    for (state, mark) in [
        ("running", "!"),
        ("rolling-back", "!"),
        ("stopped", "✗"),
        ("blocked", "✗"),
        ("partially-removed", "✗"),
        ("aborted", "!"),
        ("changed", "✓"),
    ] {
        let run = RunStatus { state, ..ended.clone() };
        let row = text(&screens::run_row(&run, at(9), false, false));
        assert!(row.starts_with(&format!("system  r1  {mark} {state}")), "{row}");
    }
}

#[test]
fn row_of_a_run_has_heads_on_request() {
    let run = status(entries(), None, at(9));
    let row = text(&screens::run_row(&run, at(9), false, true));
    assert_eq!(row.lines().count(), 2);
    assert!(row.starts_with("POOL    RUN  STATE"), "{row}");
    let row = text(&screens::run_row(&run, at(9), true, false));
    assert!(row.lines().count() == 1 && row.contains("06:40"), "{row}");
}

#[test]
fn details_list_steps_overrides_and_what_remains() {
    let begun = vec![done(SampleStep::Prepare), stopped("interrupted")];
    let mut screen = Screen::default();
    screens::details(&mut screen, &status(begun, None, at(9)));
    let expected = " \
1/3  prepare  ✓   0:01  prepare is done
Overridden  pdb: ticket 7
Remaining   pool systmp: not deleted
            2 pods
Stopped     interrupted
Plan        value of `--plan-hash`:
7363d57d69b8aaaa
";
    assert_eq!(text(&screen), expected);
    let narrow = screen.render(&Style { width: Some(30), ..Style::PIPE });
    assert!(narrow.contains("prepare\n                         is\n"), "{narrow}");
}

#[test]
fn checks_that_are_not_ok_come_first_with_their_evidence() {
    let check = |name: &str, outcome, blocks: bool| {
        PublishedCheck::new(&CheckResult::new(name, outcome, "e1"), blocks, None)
    };
    let mut overridden = check("pdb", Outcome::Pass, true);
    overridden.overridden = Some("ticket 7".to_owned());
    overridden.evidence.push(Evidence::new("e2", Some(SourceName::Azure)));
    let checks = [
        check("quota", Outcome::Pass, true),
        check("size", Outcome::Pass, true),
        overridden,
        check("subnet", Outcome::Unknown, true),
        check("time", Outcome::Fail, false),
        check("locks", Outcome::Fail, true),
    ];
    let render = |is_wide| {
        let mut screen = Screen::default();
        screens::checks(&mut screen, &checks, is_wide);
        text(&screen)
    };
    let first = "\
Checks      ✗ failed: locks: e1
            ! warning: time: e1
            – unknown: subnet: e1
";
    let pdb = "            ✓ ok: pdb: e1; e2 (overridden: ticket 7)\n";
    assert_eq!(render(false), format!("{first}{pdb}            ✓ ok: quota, size\n"));
    let others = "            ✓ ok: quota: e1\n            ✓ ok: size: e1\n";
    assert_eq!(render(true), format!("{first}{others}{pdb}"));
    let mut screen = Screen::default();
    screens::checks(&mut screen, &checks[2..3], false);
    let narrow = screen.render(&Style { width: Some(40), ..Style::PIPE });
    let expected = "Checks      ✓ ok: pdb: e1; e2\n              (overridden: ticket 7)\n";
    assert_eq!(narrow, expected);
}

#[test]
fn check_states_have_names_and_marks() {
    let names = [CheckState::Ok, CheckState::Failed, CheckState::Warning, CheckState::Unknown]
        .map(CheckState::name);
    assert_eq!(names, ["ok", "failed", "warning", "unknown"]);
}

#[test]
fn next_commands_are_labeled() {
    let mut screen = Screen::default();
    screens::next(&mut screen, "Next", &[Next::new("mooring status", "the cluster")]);
    assert_eq!(text(&screen), "Next        mooring status   the cluster\n");
}

#[test]
fn document_has_its_envelope_and_no_hidden_characters() {
    let cluster = ClusterIdentity { name: Some("c".to_owned()), ..ClusterIdentity::default() };
    let sources = [Source::new(SourceName::Record)];
    let now = at(0) + jiff::SignedDuration::from_micros(1_600);
    let content = json!({"text": "a\u{202e}b\u{e0001}"});
    let document = PublishedDocument::new("mooring.status/v1", now, &cluster, &sources, content);
    let json = to_json(&document).unwrap();
    assert!(json.ends_with("}\n") && json.contains("a\\u202eb\\udb40\\udc01"), "{json}");
    let value: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(value["schema"], "mooring.status/v1");
    assert_eq!(value["generatedAt"], "2026-05-17T06:40:00.002Z");
    assert_eq!((&value["cluster"]["name"], &value["cluster"]["uid"]), (&json!("c"), &json!(null)));
    assert_eq!(value["sources"][0]["name"], "record");
    assert_eq!(value["text"], "a\u{202e}b\u{e0001}");
    assert_eq!(escape_hidden("{\n}"), "{\n}");
}

#[test]
fn sources_are_named_in_texts() {
    use SourceName::{Azure, Cluster, Controller, Karpenter, Record};
    let names = [Cluster, Record, Azure, Controller, Karpenter].map(SourceName::as_str);
    assert_eq!(names, ["cluster", "record", "Azure", "controller", "Karpenter"]);
}
