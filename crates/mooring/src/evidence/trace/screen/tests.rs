use jiff::SignedDuration;
use mooring_terminal::{Style, width};
use mooring_trace::life::{self, LifeState, NodeLife};
use mooring_trace::{Span, SpanKind, SpanStatus, Timeline, TraceFile};

use super::{MAX_STEPS, rows, screen, short, step_name, steps, verdict};

fn file(path: &str, text: &str) -> TraceFile {
    TraceFile { path: format!("aks-default-7kq2c/{path}"), bytes: text.into() }
}

/// A node that fails after 74 seconds, 41 of them in the scripts.
fn failed() -> Vec<TraceFile> {
    let trace = "+ logs_to_events AKS.CSE.orasLogin.oras_login_with_kubelet_identity x\\n+ local 'startTime=2026-11-17 09:01:12.800'\\n+ exit 211\\n";
    let report = format!(
        r#"Enable failed: failed to execute command: command terminated with exit status=211
[stdout]
{{ "ExitCode": "211", "Output": "{trace}", "Error": "", "ExecDuration": "41", "KernelStartTime": "Tue 2026-11-17 09:00:21 UTC", "CSEStartTime": "Tue Nov 17 09:00:33 UTC 2026" }}
[stderr]
"#
    );
    let claim = r#"
kind: NodeClaim
metadata:
  name: default-7kq2c
  creationTimestamp: "2026-11-17T09:00:00Z"
status:
  conditions:
  - type: Launched
    status: "True"
    lastTransitionTime: "2026-11-17T09:00:03Z"
"#;
    let usual = r#"{"seconds": {"created → launched": 4, "ready": 20}}"#;
    vec![file("nodeclaim.yaml", claim), file("extension.txt", &report), file("usual.json", usual)]
}

fn shown(files: &[TraceFile], style: &Style) -> String {
    let timelines = mooring_trace::read(files);
    let life = timelines[0].life.as_ref().unwrap();
    screen(&timelines[0], life, &[], None, false, style).render(style)
}

#[test]
fn screens_of_a_failed_node() {
    let style = |width| Style { width: Some(width), ..Style::PIPE };
    let dots = |count: usize| "·".repeat(count);
    let expected = [
        "✗ default-7kq2c failed after 1m14s, while orasLogin was running.".to_owned(),
        "  SPAN                     TOOK   USUAL  0s                   1m14s".to_owned(),
        "  created → launched         3s      4s  █".to_owned(),
        format!("  machine                   30s          {}{}", dots(1), "█".repeat(11)),
        format!("    kernel, cloud-init      12s          {}{}", dots(7), "█".repeat(5)),
        format!("✗ bootstrap                 41s          {}{}", dots(12), "▒".repeat(14)),
        format!("✗   orasLogin              1.2s          {}▒", dots(25)),
        "  register                    –".to_owned(),
    ];
    let text = shown(&failed(), &style(80));
    assert_eq!(text.lines().take(8).collect::<Vec<_>>(), expected, "{text}");
    assert!(text.lines().all(|line| width(line) <= 80), "{text}");
    let wide = shown(&failed(), &style(120));
    assert!(wide.lines().nth(1).is_some_and(|head| width(head) == 103), "{wide}");
    let ascii = shown(&failed(), &Style { unicode: false, ..style(80) });
    assert!(ascii.is_ascii() && ascii.contains("...xxx"), "{ascii}");
}

#[test]
fn stage_of_a_joining_node_is_not_a_failure() {
    let text = shown(&failed()[..1], &Style::PIPE);
    assert!(text.starts_with("! default-7kq2c is joining; no failure is known.\n"), "{text}");
    assert!(text.contains("\n  machine, bootstrap          –  "), "{text}");
    assert!(!text.contains('✗'), "{text}");
}

fn timeline() -> (Timeline, NodeLife) {
    let timeline = mooring_trace::read(&failed()).swap_remove(0);
    let life = timeline.life.clone().unwrap();
    (timeline, life)
}

#[test]
fn unfinished_and_longest_steps_are_in_order_of_time() {
    let (mut timeline, _) = timeline();
    let at = timeline.spans.iter().position(|span| span.kind == SpanKind::Step).unwrap();
    let step = timeline.spans[at].clone();
    for number in 0..14 {
        let start = step.start - SignedDuration::from_secs(number + 1);
        let end = start + SignedDuration::from_secs(number + 2);
        let name = format!("AKS.CSE.step{number}.x");
        timeline.spans.push(Span { name, start, end, status: SpanStatus::Done, ..step.clone() });
    }
    let inner = Span { name: "AKS.CSE.inner.x".to_owned(), parent: Some(at), ..step };
    timeline.spans.push(inner);
    let names: Vec<&str> = steps(&timeline, MAX_STEPS).map(|step| step_name(&step.name)).collect();
    let longest = (3..14).rev().map(|number| format!("step{number}"));
    assert_eq!(names, longest.chain(["orasLogin".to_owned()]).collect::<Vec<_>>());
}

#[test]
fn stage_that_was_not_reached_has_a_row() {
    let (mut timeline, mut life) = timeline();
    let names = |timeline: &Timeline, life: &NodeLife| -> Vec<String> {
        let names = rows(timeline, life, MAX_STEPS).into_iter().map(|row| row.name);
        names.filter(|name| [life::REGISTER, life::READY].contains(&name.as_str())).collect()
    };
    let after = |seconds| timeline.spans[0].start + SignedDuration::from_secs(seconds);
    let stage = |name: &str, start| Span {
        name: name.to_owned(),
        kind: SpanKind::Stage,
        start,
        end: start,
        ..timeline.spans[0].clone()
    };
    let (register, ready) = (stage(life::REGISTER, after(75)), stage(life::READY, after(80)));
    life.state = LifeState::Joined;
    assert_eq!(names(&timeline, &life), [""; 0]);
    life.state = LifeState::NotReady;
    assert_eq!(names(&timeline, &life), [life::REGISTER]);
    timeline.spans.push(register);
    assert_eq!(names(&timeline, &life), [life::REGISTER, life::READY]);
    timeline.spans.push(ready);
    assert_eq!(names(&timeline, &life), [life::REGISTER, life::READY]);
    let sentence = |life: &NodeLife, now| verdict(&timeline, life, now).1;
    let text = "default-7kq2c registered after 1m20s, and is not ready.";
    assert_eq!(sentence(&life, None), text);
    life.state = LifeState::Joining;
    let now = Some(timeline.spans[0].start + SignedDuration::from_secs(90));
    let text = "default-7kq2c is joining for 1m30s; no failure is known.";
    assert_eq!(sentence(&life, now), text);
}

#[test]
fn sources_that_were_not_read_are_listed() {
    let (timeline, life) = timeline();
    let shown = |left_out: &[String]| {
        screen(&timeline, &life, left_out, None, false, &Style::PIPE).render(&Style::PIPE)
    };
    assert!(shown(&["the VM".to_owned()]).contains("\nLeft out    the VM\n"));
    assert!(!shown(&[]).contains("Left out"));
}

#[test]
fn usual_needs_other_nodes() {
    let text = shown(&failed()[..2], &Style::PIPE);
    assert!(!text.contains("USUAL") && text.contains("  0s "), "{text}");
}

#[test]
fn durations_are_short() {
    for (seconds, expected) in [
        (0.0, "0s"),
        (1.2, "1.2s"),
        (9.96, "10s"),
        (41.4, "41s"),
        (74.0, "1m14s"),
        (3780.0, "1h03m"),
    ] {
        assert_eq!(short(seconds), expected);
    }
}
