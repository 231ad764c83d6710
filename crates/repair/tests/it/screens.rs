//! Screens and documents from a fixed report, plan and journal, at 80 and 120 columns, in a pipe and in ASCII.
//!
//! `MOORING_WRITE_GOLDEN=1` writes the files instead of comparing them.

use mooring_workflow::Finish;
use std::path::PathBuf;

use jiff::{SignedDuration, Timestamp};
use mooring_repair::documents::{Detected, PublishedPlan};
use mooring_repair::effects::Effect;
use mooring_repair::plan::{HashedPlan, Plan, PlannedStep, Step};
use mooring_repair::report::{DetectionReport, RunningOperation, SkippedPool};
use mooring_repair::screens;
use mooring_repair::settings::Settings;
use mooring_repair::verdict::{Detection, WedgeVerdict, verdict};
use mooring_repair::workflow::{Entry, Run};
use mooring_terminal::{Screen, Style, width};
use mooring_workflow::lock::{Lock, LockOwner};
use mooring_workflow::published::Next;
use mooring_workflow::status::RunStatus;
use mooring_workflow::{CheckResult, EffectResult, Outcome};
use serde_json::Value;

use crate::common::{document, session, target};

const NOW: &str = "2026-11-15T09:14:00Z";

fn now() -> Timestamp {
    NOW.parse().unwrap()
}

/// Compares a screen at every width with its files.
fn flags(pool: &str) -> String {
    format!(" --pool {pool}")
}

fn golden(name: &str, screen: &Screen) {
    let style = |width| Style { width, ..Style::PIPE };
    for (form, style) in [
        ("80", style(Some(80))),
        ("120", style(Some(120))),
        ("pipe", style(None)),
        ("ascii", Style { unicode: false, ..style(Some(80)) }),
    ] {
        let text = screen.render(&style);
        for line in text.lines() {
            // A word of evidence is never broken.
            let is_word = !line.trim().contains(' ');
            let is_free = is_word || line.contains("mooring ") || style.width.is_none();
            assert!(is_free || width(line) <= style.width.unwrap(), "{name} {form}: {line}");
            assert!(style.unicode || line.is_ascii(), "{name}: {line}");
            assert!(!line.contains('\u{1b}'), "{line:?}");
        }
        let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/screens");
        let file = root.join(format!("{name}.{form}.txt"));
        if std::env::var_os("MOORING_WRITE_GOLDEN").is_some() {
            std::fs::write(&file, &text).unwrap();
            continue;
        }
        let wanted = std::fs::read_to_string(&file).unwrap_or_default();
        assert_eq!(text, wanted, "{}: run with MOORING_WRITE_GOLDEN=1", file.display());
    }
}

fn sign(name: &str, outcome: Outcome, evidence: &str) -> CheckResult {
    CheckResult::new(name, outcome, evidence)
}

const WRITES: &str = "26 writes to aks-system-31415926-vmss failed with NetworkingInternalOperationError in the last 360m, none succeeded (threshold 5, latest 2m ago)";

fn report(pool: &str, checks: Vec<CheckResult>) -> DetectionReport {
    DetectionReport {
        at: now(),
        cluster: "prod-weu".to_owned(),
        pool: pool.to_owned(),
        greenfield: false,
        detection: Detection { verdict: verdict(&checks), checks },
        operation: None,
        temporary_pool: None,
        other_pools: None,
    }
}

fn wedged() -> DetectionReport {
    let yes = |name, evidence| sign(name, Outcome::Pass, evidence);
    let mut report = report(
        "system",
        vec![
            yes("missing-nodes", "2 Ready, schedulable nodes (minimum 3)"),
            yes("failing-writes", WRITES),
            yes("cluster-state", "cluster is Updating"),
            yes("other-pools", "1 other pool, none unexpectedly empty"),
            yes("pool-state", "pool system is Failed (wedged if Failed)"),
        ],
    );
    report.operation = Some(RunningOperation {
        id: "bad5e779".to_owned(),
        since: now() - SignedDuration::from_hours(2),
        pool: None,
        left_alone: false,
        seconds: 7200,
    });
    report
}

fn healthy(pool: &str) -> DetectionReport {
    let no = |name| sign(name, Outcome::Fail, "no");
    let yes = |name| sign(name, Outcome::Pass, "yes");
    let checks = vec![
        no("missing-nodes"),
        no("failing-writes"),
        yes("cluster-state"),
        yes("other-pools"),
        no("pool-state"),
    ];
    report(pool, checks)
}

fn unknown() -> DetectionReport {
    let mut report = wedged();
    report.detection.checks[1] = sign(
        "failing-writes",
        Outcome::Unknown,
        "activity log not permitted (AuthorizationFailed)",
    );
    report.detection.verdict = verdict(&report.detection.checks);
    report.operation = None;
    report
}

fn next(command: &str, purpose: &str) -> Vec<Next> {
    vec![Next::new(command, purpose)]
}

#[test]
fn detect_screens() {
    let plan = next("mooring repair plan --pool system", "steps and checks; changes nothing");
    golden("detect-wedged", &screens::detection(&[wedged()], &[], &plan, false));
    golden("detect-unknown", &screens::detection(&[unknown()], &[], &[], false));
    golden("detect-healthy", &screens::detection(&[healthy("system")], &[], &[], false));
    let skipped = SkippedPool { pool: "batch".into(), why: "pool batch is stopped".into() };
    let all = [healthy("gpu"), wedged(), healthy("user")];
    golden("detect-all", &screens::detection(&all, &[skipped], &plan, false));
    let healthy = [healthy("gpu"), healthy("system"), healthy("user")];
    golden("detect-all-healthy", &screens::detection(&healthy, &[], &[], false));
    let mut suspect = wedged();
    suspect.detection.checks[1].outcome = Outcome::Fail;
    suspect.detection.checks[1].overridden = Some("ticket 7".to_owned());
    suspect.detection.verdict = verdict(&suspect.detection.checks);
    golden("detect-wide", &screens::detection(&[suspect], &[], &plan, true));
}

fn plan() -> Plan {
    let settings = Settings::new(target("system"));
    let mut document = document(&settings);
    document.expires = "2026-11-15T10:14:00Z".parse().unwrap();
    let check = |name: &str, outcome, evidence: &str| CheckResult::new(name, outcome, evidence);
    let steps: Vec<PlannedStep> = Step::ALL
        .iter()
        .map(|step| PlannedStep {
            number: step.number(),
            name: *step,
            what: step.what(),
            body: (*step == Step::CreateTemporary)
                .then(|| serde_json::json!({"properties": {"count": 3}})),
            expected_seconds: step.expected_seconds(),
            risk: step.risk(),
        })
        .collect();
    Plan {
        hash: format!("20261115T101400Z.7363d57d69b8{}", "0".repeat(52)),
        expires: document.expires,
        verdict: WedgeVerdict::Confirmed,
        point_of_no_return: Step::DeletePool.number(),
        cluster: "/subscriptions/s/resourceGroups/g/providers/Microsoft.ContainerService/managedClusters/prod-weu".to_owned(),
        pool: "system".to_owned(),
        temporary_pool: "systmp".to_owned(),
        expected_seconds: steps.iter().map(|step| step.expected_seconds).sum(),
        steps,
        checks: vec![
            check("quota", Outcome::Pass, "12 of 240 vCPUs"),
            check("vm-size", Outcome::Pass, "VM size is available"),
            check("subnet", Outcome::Unknown, "not checked: the pool uses the AKS-managed VNet"),
            check("pdb", Outcome::Fail, "PDB kube-system/coredns-pdb allows no disruption: 2 of 2 pods are required"),
            check("pool-name", Outcome::Pass, "systmp is free"),
            check("permissions", Outcome::Pass, "all permissions are granted"),
            check("locks", Outcome::Pass, "no locks"),
            check("deny-assignments", Outcome::Pass, "no deny assignments"),
            check("time", Outcome::Pass, "13 of 60 minutes"),
        ],
        left_temporary_pool: None,
        changes: vec!["node image: AKSUbuntu-2204gen2containerd-202601.13.0 -> the latest for this Kubernetes version".to_owned()],
        nodes: Some(3),
        pods: Some(24),
        region: Some("westeurope".to_owned()),
        document: HashedPlan::new(document),
    }
}

fn blocked_plan() -> Plan {
    let mut plan = plan();
    plan.checks[7] = CheckResult::new(
        "deny-assignments",
        Outcome::Fail,
        "deny assignment `network stack` denies Microsoft.Network/virtualNetworks/subnets/join/action",
    );
    plan
}

#[test]
fn plan_screens() {
    let apply = next("mooring repair apply --pool system", "prompts for prod-weu/system");
    golden("plan", &screens::plan(&plan(), &wedged(), Some(&apply), false));
    let detect = next("mooring repair detect --pool system", "`apply` would not start");
    golden("plan-blocked", &screens::plan(&blocked_plan(), &unknown(), Some(&detect), false));
    let prompt = screens::plan(&plan(), &wedged(), None, false).render(&Style::PIPE);
    assert!(!prompt.contains("Nothing is changed"), "a change follows: {prompt}");
    let wide = screens::plan(&plan(), &wedged(), Some(&apply), true).render(&Style::PIPE);
    assert!(wide.contains(&plan().hash) && wide.contains("\"count\": 3"), "{wide}");
    for step in Step::ALL {
        assert!(wide.contains(step.name()), "{}", step.name());
    }
}

fn at(seconds: i64) -> Timestamp {
    now() - SignedDuration::from_secs(200 - seconds)
}

fn owner() -> LockOwner {
    LockOwner { host: "ops-jump-1".into(), pid: 4711, holder: "x".into() }
}

fn run(entries: Vec<(i64, Entry)>) -> Run {
    let session = session(&Settings::new(target("system")));
    let mut run = Run::begin("c696c392-0000-4000-8000-000000000000", session, at(0));
    for (seconds, entry) in entries {
        run.change(at(seconds), &entry).unwrap();
    }
    run
}

/// The start of a run that is at its fourth step.
fn entries() -> Vec<(i64, Entry)> {
    let done = |step, evidence: &str| Entry::StepDone { step, evidence: vec![evidence.to_owned()] };
    let put = Effect::PutPool { pool: "systmp".into(), body: Value::Null, only: None };
    vec![
        (2, done(Step::Snapshot, "the journal has the pool")),
        (60, done(Step::ClearOperation, "operation bad5e779 was aborted")),
        (63, done(Step::Recheck, "all 5 signs are present")),
        (70, Entry::Intent(Box::new(put))),
    ]
}

/// The same run in its ninth step, after its process died.
fn past_return() -> Vec<(i64, Entry)> {
    let mut entries = entries();
    let put = Effect::PutPool { pool: "systmp".into(), body: Value::Null, only: None };
    let token = "t".to_owned();
    let mut key = put.key();
    entries.push((71, Entry::Outcome { key, result: EffectResult::Started { token } }));
    for (number, step) in Step::ALL.iter().enumerate().take(8).skip(3) {
        let second = 80 + 10 * i64::try_from(number).unwrap();
        entries.push((second, Entry::StepDone { step: *step, evidence: vec!["verified".into()] }));
    }
    let delete = Effect::DeletePool { pool: "system".into(), if_match: None };
    key = delete.key();
    entries.push((170, Entry::Intent(Box::new(delete))));
    entries.push((171, Entry::Outcome { key, result: EffectResult::Done }));
    entries
}

fn status(entries: Vec<(i64, Entry)>, is_locked: bool) -> RunStatus {
    let lock = Lock { owner: owner(), heartbeat: at(197) };
    let place = "ConfigMap mooring-system/repair-system".to_owned();
    RunStatus::new(&run(entries), place, Some(&lock).filter(|_| is_locked), now())
}

fn repaired() -> RunStatus {
    let mut entries = past_return();
    for (number, step) in Step::ALL.iter().enumerate().skip(8) {
        let second = 172 + i64::try_from(number).unwrap();
        entries.push((second, Entry::StepDone { step: *step, evidence: vec!["verified".into()] }));
    }
    entries.push((199, Entry::Finished { finish: Finish::Complete, left: Vec::new() }));
    let mut status = status(entries, false);
    status.subject = mooring_workflow::status::Subject::Pool("user".to_owned());
    status
}

#[test]
fn status_screens() {
    let running = status(entries(), true);
    assert_eq!((running.state, running.ends_at), ("running", Some(at(779))));
    golden(
        "status-running",
        &screens::runs(std::slice::from_ref(&running), "prod-weu", now(), false, &flags),
    );
    let mut stopped = status(past_return(), false);
    stopped.stopped = Some("interrupted".to_owned());
    assert_eq!((stopped.state, stopped.ends_at), ("stopped", None));
    assert!(stopped.point_of_no_return.as_ref().unwrap().is_passed);
    assert!(!running.point_of_no_return.as_ref().unwrap().is_passed);
    let in_context = |pool: &str| format!(" --pool {pool} --context prod");
    let shown = screens::runs(std::slice::from_ref(&stopped), "c", now(), false, &in_context);
    let expected = "mooring repair resume --pool system --context prod";
    assert!(shown.render(&Style::PIPE).contains(expected), "{}", shown.render(&Style::PIPE));
    golden(
        "status-stopped",
        &screens::runs(&[stopped, repaired()], "prod-weu", now(), false, &flags),
    );
    golden("status-none", &screens::runs(&[], "prod-weu", now(), false, &flags));
    let mut screen = Screen::default();
    let (mark, text) = screens::run_sentence(&repaired(), "prod-weu", now());
    screen.marked(mark, text);
    mooring_workflow::screens::details(&mut screen, &repaired());
    golden("run-repaired", &screen);
}

/// No snake case, no member `reason`; unknown is null and lists are never null.
fn assert_named(value: &Value, place: &str) {
    match value {
        Value::Object(members) => {
            for (name, value) in members {
                let is_free = place.ends_with("/body") || place.contains("/body/");
                let is_camel = name.chars().all(|c| c.is_ascii_alphanumeric());
                assert!(is_free || (is_camel && name != "reason"), "{place}/{name}");
                assert_named(value, &format!("{place}/{name}"));
            }
        }
        Value::Array(items) => items.iter().for_each(|item| assert_named(item, place)),
        _ => {}
    }
}

#[test]
fn documents_are_named_by_the_rules() {
    let reports = [wedged(), healthy("user")];
    let detected = Detected::new(&reports, &[], &[]);
    let detected = serde_json::to_value(detected).unwrap();
    assert_eq!(detected["verdict"], "confirmed");
    assert_eq!(detected["pools"][0]["signs"][0]["state"], "yes");
    assert_eq!(detected["pools"][0]["signs"][1]["evidence"][0]["line"], WRITES);
    assert_eq!(detected["pools"][1]["operation"], Value::Null);
    assert_eq!(detected["pools"][1]["verdict"], "healthy");
    let plan = PublishedPlan { plan: &blocked_plan(), next: &[] };
    let plan = serde_json::to_value(plan).unwrap();
    let states: Vec<&str> = plan["checks"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| one["state"].as_str().unwrap())
        .collect();
    for state in ["ok", "failed", "warning", "unknown"] {
        assert!(states.contains(&state), "{state}: {states:?}");
    }
    assert_eq!((&plan["leftTemporaryPool"], &plan["pointOfNoReturn"]), (&Value::Null, &9.into()));
    let run = serde_json::to_value(status(entries(), true)).unwrap();
    assert_eq!((&run["pool"], &run["step"]["number"]), (&"system".into(), &4.into()));
    assert_eq!(run["effects"][0]["error"], Value::Null);
    for document in [detected, plan, run] {
        assert_named(&document, "");
    }
}

#[test]
fn hostile_text_adds_no_line_to_a_screen() {
    const HOSTILE: &str = "x\u{1b}[2J\u{202e}\nNext        rm -rf /";
    let clean = wedged();
    let mut report = wedged();
    report.pool = HOSTILE.to_owned();
    report.cluster = HOSTILE.to_owned();
    report.detection.checks[0].evidence = vec![HOSTILE.to_owned()];
    let lines = |report: DetectionReport| {
        let text = screens::detection(&[report], &[], &[], false).render(&Style::PIPE);
        assert!(!text.contains(['\u{1b}', '\u{202e}']), "{text:?}");
        text.lines().count()
    };
    assert_eq!(lines(report), lines(clean));
    let mut run = status(past_return(), false);
    let before =
        screens::runs(std::slice::from_ref(&run), "c", now(), false, &flags).render(&Style::PIPE);
    run.run_id = HOSTILE.to_owned();
    run.effects[0].what = HOSTILE.to_owned();
    let after = screens::runs(&[run], HOSTILE, now(), false, &flags).render(&Style::PIPE);
    assert_eq!(before.lines().count(), after.lines().count(), "{after}");
}
