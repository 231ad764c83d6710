//! Screens from a fixed plan and journal, at 80 and 120 columns, in a pipe and in ASCII.
//!
//! `MOORING_WRITE_GOLDEN=1` writes the files instead of comparing them.

use std::collections::BTreeMap;
use std::path::PathBuf;

use jiff::Timestamp;
use mooring_finalizers::objects::Object;
use mooring_finalizers::plan::{Dependent, Plan, PlannedObject, PlannedStep};
use mooring_finalizers::profile::Profile;
use mooring_finalizers::screens;
use mooring_finalizers::step::Step;
use mooring_finalizers::workflow::{Entry, Run, Session};
use mooring_terminal::{Screen, Style, width};
use mooring_workflow::Finish;
use mooring_workflow::approval::{Approval, ApprovalToken};
use mooring_workflow::lock::LockOwner;
use mooring_workflow::published::Next;
use mooring_workflow::status::{Remaining, RunStatus};
use mooring_workflow::{CheckResult, Outcome};

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
            let is_word = !line.trim().contains(' ');
            let is_free = is_word || line.contains("mooring ") || style.width.is_none();
            assert!(is_free || width(line) <= style.width.unwrap(), "{name} {form}: {line}");
            assert!(style.unicode || line.is_ascii(), "{name}: {line}");
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

fn now() -> Timestamp {
    "2026-11-15T09:14:00Z".parse().unwrap()
}

fn plan() -> Plan {
    let group = "package-operator.run";
    let object = |resource: &str, name: &str, strip: bool| PlannedObject {
        object: Object::read(
            &format!("{resource}.{group}"),
            &format!("/apis/{group}/v1alpha1"),
            &serde_json::json!({"metadata": {
                "namespace": "team-a", "name": name, "uid": name, "resourceVersion": "1",
            }}),
        )
        .unwrap(),
        strip: if strip { vec![format!("{group}/cached")] } else { Vec::new() },
        keep: if strip { Vec::new() } else { vec!["example.com/audit".to_owned()] },
    };
    let objects = vec![
        object("packages", "api", true),
        object("packages", "web", true),
        object("clusterpackages", "base", true),
        object("packagemanifests", "base", false),
    ];
    let targets = |objects: &[PlannedObject]| {
        objects.iter().map(|one| one.object.target.to_string()).collect::<Vec<_>>()
    };
    let steps = [
        (Step::DeleteObjects, targets(&objects)),
        (Step::RemoveFinalizers, targets(&objects[..3])),
        (Step::DeleteCrds, vec![format!("packages.{group}"), format!("clusterpackages.{group}")]),
        (Step::DeleteBindings, vec!["clusterrolebindings package-operator (cluster-admin)".into()]),
        (
            Step::DeleteRelease,
            vec!["secrets a (revision 1)".into(), "secrets b (revision 2)".into()],
        ),
        (Step::DeleteNamespace, vec!["namespaces package-operator-system".into()]),
        (Step::Verify, Vec::new()),
    ];
    let expires = "2026-11-15T10:14:00Z".parse().unwrap();
    let hash = format!("695bb794ed5b{}", "0".repeat(52)).parse().unwrap();
    Plan {
        approval: ApprovalToken { expires, hash },
        cluster: "uid".to_owned(),
        profile: Profile::named("package-operator").unwrap(),
        scale_down: false,
        best_effort: false,
        overrides: BTreeMap::new(),
        nothing_to_do: false,
        checks: vec![
            CheckResult::new(
                "operator-gone",
                Outcome::Pass,
                "no running workload, Lease, write or event",
            ),
            CheckResult::new(
                "objects-known",
                Outcome::Pass,
                "all CRDs and custom resources were read",
            ),
            CheckResult::new("cluster-identity", Outcome::Pass, "uid of kube-system: uid"),
        ],
        steps: steps
            .into_iter()
            .map(|(name, targets)| PlannedStep {
                number: name.number(),
                name,
                what: name.what(),
                targets,
            })
            .collect(),
        objects,
        targets: Vec::new(),
        contents: Vec::new(),
        cascade: Vec::new(),
        notes: vec!["1 objects have finalizers not listed in the profile and are kept".to_owned()],
        unread: Vec::new(),
    }
}

#[test]
fn plan_screens() {
    let next = [Next::new("mooring finalizers apply", "prompts for prod-weu/package-operator")];
    golden("plan", &screens::plan(&plan(), "prod-weu", Some(&next), false));
    let wide = screens::plan(&plan(), "prod-weu", Some(&next), true).render(&Style::PIPE);
    assert!(wide.contains("packages.package-operator.run team-a/web"), "{wide}");
    assert!(wide.contains(&plan().approval.to_string()), "{wide}");
    let mut blocked = plan();
    blocked.checks[0] = CheckResult::new(
        "operator-gone",
        Outcome::Fail,
        "Deployment package-operator-system/package-operator has 1 ready replica",
    );
    golden("plan-blocked", &screens::plan(&blocked, "prod-weu", Some(&[]), false));
    let nothing = Plan { nothing_to_do: true, ..plan() };
    let prompt = screens::plan(&plan(), "prod-weu", None, false).render(&Style::PIPE);
    assert!(!prompt.contains("Nothing is changed"), "a change follows: {prompt}");
    golden("plan-nothing", &screens::plan(&nothing, "prod-weu", Some(&[]), false));
}

#[test]
fn diagram_counts_dependents_by_resource() {
    let dependent = |(resource, name): (&str, &str)| Dependent {
        resource: resource.to_owned(),
        namespace: None,
        name: name.to_owned(),
        uid: name.to_owned(),
        direct: true,
    };
    let owned = [("secrets", "a"), ("deployments.apps", "b"), ("secrets", "c")];
    let diagram = Plan { cascade: owned.map(dependent).to_vec(), ..plan() }.mermaid();
    let lines: Vec<&str> =
        diagram.lines().filter(|line| line.contains("garbage-collected")).collect();
    let expected = [
        r#"    s1 -. garbage-collected .-> c0(["1 deployments.apps"])"#,
        r#"    s1 -. garbage-collected .-> c1(["2 secrets"])"#,
    ];
    assert_eq!(lines, expected);
}

fn status(entries: Vec<(i64, Entry)>) -> RunStatus {
    let plan = plan();
    let session = Session {
        approval: Approval::Token(plan.approval.clone()),
        plan: plan.approval,
        cluster: "uid".to_owned(),
        profile: Box::new(plan.profile),
        owner: LockOwner { host: "h".into(), pid: 1, holder: "x".into() },
    };
    let at = |seconds| now() - jiff::SignedDuration::from_secs(100 - seconds);
    let mut run = Run::begin("c696c392-0000", session, at(0));
    for (seconds, entry) in entries {
        run.change(at(seconds), &entry).unwrap();
    }
    RunStatus::new(&run, "ConfigMap mooring-system/finalizers-x".to_owned(), None, now())
}

#[test]
fn status_screens() {
    let done = |step| Entry::StepDone { step, evidence: vec!["4 objects deleted".to_owned()] };
    let stopped = status(vec![(10, done(Step::DeleteObjects))]);
    assert_eq!(stopped.state, "stopped");
    golden("status-stopped", &screens::runs(&[stopped], "prod-weu", now(), false));
    let left = vec![Remaining {
        what: "packages.package-operator.run team-a/web".to_owned(),
        explanation: Some("webhook guard.example.com denied it".to_owned()),
        finalizers: Vec::new(),
    }];
    let partial = status(vec![(90, Entry::Finished { finish: Finish::Partial, left })]);
    let mut screen = screens::runs(std::slice::from_ref(&partial), "prod-weu", now(), false);
    let (mark, text) = screens::run_sentence(&partial, "prod-weu", now());
    screen.marked(mark, text);
    mooring_workflow::screens::details(&mut screen, &partial);
    golden("status-partial", &screen);
    golden("status-none", &screens::runs(&[], "prod-weu", now(), false));
}
