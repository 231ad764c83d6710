//! Timelines from little more than a report, a trace or an event.

use mooring_trace::life::LifeState;
use mooring_trace::production::Speed;
use mooring_trace::{
    Span, SpanKind, SpanSource, SpanStatus, Timeline, TimelineOutcome, TraceFile, read,
};

use crate::support::content;

const REPORT: &str = "var/log/azure/aks/provision.json";
const TRACE: &str = "var/log/azure/cluster-provision.log";

fn file(path: &str, text: &str) -> TraceFile {
    TraceFile { path: path.to_owned(), bytes: text.into() }
}

fn node(files: &[(&str, &str)]) -> Timeline {
    read(&files.iter().map(|(path, text)| file(path, text)).collect::<Vec<_>>()).remove(0)
}

fn span<'a>(timeline: &'a Timeline, name: &str) -> &'a Span {
    timeline.spans.iter().find(|span| span.short_name() == name).unwrap_or_else(|| panic!("{name}"))
}

fn step(name: &str, from: &str, to: Option<&str>) -> String {
    let start = format!("+ logs_to_events {name} x\n+ local 'startTime=2026-11-15 {from}'\n");
    to.map_or(start.clone(), |to| format!("{start}+ local 'endTime=2026-11-15 {to}'\n"))
}

#[test]
fn early_failure_is_identified_by_exit_code() {
    let report = r#"{"ExitCode":"50","Error":"","CSEStartTime":"Sun Nov 15 02:00:00 UTC 2026","ExecDuration":"30"}"#;
    let timeline = node(&[(REPORT, report)]);
    let running = timeline.running.as_ref().unwrap();
    assert_eq!(running.name, "the outbound probe of mcr.microsoft.com");
    // Nothing ended before: it began with the scripts.
    let span = &timeline.spans[running.span.unwrap()];
    assert_eq!(span.start.to_string(), "2026-11-15T02:00:00Z");
    assert!((span.seconds() - 30.0).abs() < 1e-9, "{span:?}");
    let run = timeline.spans.iter().find(|span| span.kind == SpanKind::Run).unwrap();
    assert_eq!(run.status, SpanStatus::Failed);
}

#[test]
fn empty_node_is_returned_only_if_it_is_the_only_one() {
    let failure = r#"[{"at":"2026-11-15T02:00:00Z"}]"#;
    let files = [
        file("a/var/log/azure/other.txt", "x"),
        file(&format!("b/{REPORT}"), r#"{"ExitCode":"0"}"#),
        file("c/record.json", failure),
        file("d/usual.json", r#"{"seconds":{}}"#),
    ];
    let names = |files: &[TraceFile]| -> Vec<String> {
        read(files).into_iter().map(|one| one.node).collect()
    };
    assert_eq!(names(&files), ["b", "c"]);
    assert_eq!(names(&files[..1]), ["a"]);
}

#[test]
fn only_a_failed_agent_fails_a_node_without_an_exit_code() {
    let outcome = |task: &str, level: &str| {
        let event = format!(
            r#"{{"Timestamp":"2026-11-15 02:00:00","OperationId":"2026-11-15 02:00:01","TaskName":"{task}","EventLevel":"{level}"}}"#
        );
        node(&[("var/log/azure/events/x.json", &event)]).outcome
    };
    let agent = "AKS.AKSNodeController.Provision";
    assert_eq!(outcome(agent, "Error"), TimelineOutcome::Failed);
    assert_eq!(outcome(agent, "Informational"), TimelineOutcome::Unknown);
    assert_eq!(outcome("AKS.CSE.a", "Error"), TimelineOutcome::Unknown);
}

fn event(task: &str, time: &str) -> (String, String) {
    let path = format!("var/log/azure/events/{task}.json");
    (
        path,
        format!(r#"{{"Timestamp":"{time}","OperationId":"{time}","TaskName":"AKS.CSE.{task}"}}"#),
    )
}

#[test]
fn spans_of_another_boot_are_left_out_and_counted() {
    let names = |events: &[(String, String)]| -> (Vec<String>, Vec<(String, String)>) {
        let files: Vec<TraceFile> = events.iter().map(|(path, text)| file(path, text)).collect();
        let timeline = read(&files).remove(0);
        let names = timeline.spans.iter().map(|span| span.short_name().to_owned());
        let skipped = timeline.skipped.into_iter().map(|one| (one.path, one.why));
        (names.collect(), skipped.collect())
    };
    let why = "left out: more than 6 h before the bootstrap or 24 h after it";
    let left_out = |path: &str| vec![(path.to_owned(), why.to_owned())];
    let (kept, skipped) = names(&[
        event("cse_start", "2026-11-15 08:00:00.000"),
        event("before", "2026-11-15 02:00:00.000"),
        event("first", "2026-11-15 02:00:00.001"),
        event("last", "2026-11-16 07:59:59.999"),
        event("after", "2026-11-16 08:00:00.000"),
    ]);
    assert_eq!(
        (kept.as_slice(), skipped),
        (&["first", "cse_start", "last"].map(str::to_owned)[..], left_out("2 times"))
    );
    // Without the scripts as a whole, the median counts.
    let (kept, skipped) = names(&[
        event("a", "2026-11-01 08:00:00.000"),
        event("b", "2026-11-15 08:00:00.000"),
        event("c", "2026-11-15 08:00:01.000"),
        event("d", "2026-11-15 08:00:02.000"),
    ]);
    assert_eq!(
        (kept.as_slice(), skipped),
        (&["b", "c", "d"].map(str::to_owned)[..], left_out("1 times"))
    );
}

#[test]
fn exit_code_of_the_record_alone_names_no_step() {
    let record = r#"[{"at":"2026-11-15T02:01:00Z","launched":"2026-11-15T02:00:00Z","code":50}]"#;
    let timeline = node(&[("a/record.json", record)]);
    assert_eq!((timeline.outcome, timeline.exit_code), (TimelineOutcome::Failed, Some(50)));
    assert_eq!(timeline.running, None);
}

#[test]
fn unfinished_steps_of_a_node_that_joined_are_dropped() {
    let claim = r#"
kind: NodeClaim
metadata: {name: default-1, creationTimestamp: "2026-11-15T02:00:00Z"}
status:
  conditions:
  - {type: Launched, status: "True", lastTransitionTime: "2026-11-15T02:00:03Z"}
  - {type: Registered, status: "True", lastTransitionTime: "2026-11-15T02:01:20Z"}
"#;
    let trace = step("AKS.CSE.ensureKubelet", "02:00:50.000", None);
    let timeline = node(&[("nodeclaim.yaml", claim), (TRACE, &trace)]);
    assert_eq!(timeline.outcome, TimelineOutcome::Succeeded);
    let seen: Vec<_> = timeline.spans.iter().map(|span| (&*span.name, span.status)).collect();
    let expected = [
        ("created → launched", SpanStatus::Done),
        ("machine, bootstrap", SpanStatus::Done),
        ("ready", SpanStatus::Unfinished),
    ];
    assert_eq!(seen, expected);
}

#[test]
fn part_of_a_step_is_labeled_without_the_name_of_the_step() {
    let trace: String = [
        step("AKS.CSE.outer", "02:00:00.000", Some("02:00:10.000")),
        step("AKS.CSE.outer.part", "02:00:01.000", Some("02:00:02.000")),
        step("AKS.CSE.outerOther", "02:00:03.000", Some("02:00:04.000")),
        step("AKS.CSE.outer.", "02:00:05.000", Some("02:00:06.000")),
    ]
    .concat();
    let timeline = node(&[(TRACE, &trace)]);
    let labels: Vec<&str> = (0..4).map(|index| timeline.label(index)).collect();
    assert_eq!(labels, ["outer", ".part", "outerOther", "outer."]);
}

#[test]
fn table_lists_at_most_twenty_skipped_files() {
    let shown = |count: usize| {
        let broken = |at| file(&format!("var/log/azure/events/{at}.json"), "x");
        let timelines = read(&(0..count).map(broken).collect::<Vec<_>>());
        mooring_trace::table::table(&timelines)
    };
    let line = "    var/log/azure/events/19.json: not a JSON object (line 1, column 1)\n";
    assert!(shown(20).ends_with(line), "{}", shown(20));
    assert!(shown(21).ends_with(&format!("{line}    and 1 more\n")), "{}", shown(21));
}

#[test]
fn chart_without_times_is_described() {
    let timeline = Timeline::of("n", &[file(REPORT, r#"{"ExitCode":"124"}"#)]);
    assert_eq!(mooring_trace::waterfall::chart(&timeline).label, "No timestamps found for n.");
}

#[test]
fn system_and_extension_handler_are_read_from_their_files() {
    let release = "ID=ubuntu\nVERSION_ID=\"24.04\"\n";
    let log = "time=2026-11-15T02:00:01Z operation=enable event=start\n";
    let timeline =
        node(&[("etc/os-release", release), ("var/log/azure/custom-script/handler.log", log)]);
    assert_eq!(timeline.system.as_str(), "Ubuntu 24.04");
    assert_eq!(timeline.spans[0].sources, [SpanSource::Handler]);
}

#[test]
fn inferred_step_begins_after_the_last_one_that_ended() {
    let report = |code: i32| {
        format!(
            r#"{{"ExitCode":"{code}","Error":"","CSEStartTime":"Sun Nov 15 02:00:00 UTC 2026","ExecDuration":"30"}}"#
        )
    };
    // The trace has a call of the step, but its start was cut off.
    let trace = step("AKS.CSE.disableSSH", "02:00:01.000", Some("02:00:02.000"))
        + &step("AKS.CSE.setCPUArch", "02:00:03.000", None)
        + "+ oras_login_with_kubelet_identity\n";
    let timeline = node(&[(REPORT, &report(211)), (TRACE, &trace)]);
    let running = timeline.running.as_ref().unwrap();
    assert_eq!(running.name, "AKS.CSE.orasLogin.oras_login_with_kubelet_identity");
    let span = &timeline.spans[running.span.unwrap()];
    assert_eq!(
        (&span.sources[..], span.start.to_string().as_str()),
        (&[SpanSource::Concluded][..], "2026-11-15T02:00:02Z")
    );
    // No time is left after a step that ended with the scripts.
    let trace = step("AKS.CSE.configureK8s", "02:00:10.000", Some("02:00:30.000"));
    let timeline = node(&[(REPORT, &report(50)), (TRACE, &trace)]);
    let running = timeline.running.as_ref().unwrap();
    assert_eq!(
        (running.name.as_str(), running.span),
        ("the outbound probe of mcr.microsoft.com", None)
    );
}

#[test]
fn called_step_with_the_exit_code_was_running() {
    // The trace has no end of the first step, and no start of the one that it calls.
    let output = |code: i32| {
        format!(
            "+ logs_to_events AKS.CSE.ensureNoDupOnPromiscuBridge x\\n+ oras_login_with_kubelet_identity\\n+ exit {code}"
        )
    };
    let running = |code: i32| {
        let report = format!(r#"{{"ExitCode":"{code}","Output":"{}","Error":""}}"#, output(code));
        node(&[(REPORT, &report)]).running.unwrap().name
    };
    assert_eq!(running(211), "AKS.CSE.orasLogin.oras_login_with_kubelet_identity");
    assert_eq!(running(4), "AKS.CSE.ensureNoDupOnPromiscuBridge", "a code of the open step");
    assert_eq!(running(124), "AKS.CSE.ensureNoDupOnPromiscuBridge", "a code of neither");
}

#[test]
fn stages_of_a_node_that_joined_are_in_order() {
    let claim = r#"
kind: NodeClaim
metadata: {name: default-1, creationTimestamp: "2026-11-15T02:00:00Z", labels: {karpenter.sh/nodepool: default}}
status:
  conditions:
  - {type: Launched, status: "True", lastTransitionTime: "2026-11-15T02:00:03Z"}
  - {type: Registered, status: "True", lastTransitionTime: "2026-11-15T02:01:20Z"}
  - {type: Initialized, status: "True", lastTransitionTime: "2026-11-15T02:01:30Z"}
"#;
    let object = r#"
kind: Node
metadata: {name: aks-default-1, creationTimestamp: "2026-11-15T02:01:18Z"}
"#;
    let message = r#"Enable succeeded: 
[stdout]
{"ExitCode":"0","Output":"","CSEStartTime":"Sun Nov 15 02:00:40 UTC 2026","ExecDuration":"30","KernelStartTime":"Sun 2026-11-15 02:00:20 UTC"}
[stderr]
"#;
    let usual = r#"{"seconds":{"created → launched":2.5,"kernel":9}}"#;
    let files = [
        ("a/nodeclaim.yaml", claim),
        ("a/node.yaml", object),
        ("a/extension.txt", message),
        ("a/usual.json", usual),
    ];
    let timeline = node(&files);
    let stages = timeline.spans.iter().filter(|span| span.kind == SpanKind::Stage);
    let stages: Vec<(&str, f64, usize)> =
        stages.map(|span| (span.name.as_str(), span.seconds(), span.depth)).collect();
    let expected = [
        ("created → launched", 3.0, 0),
        ("machine", 37.0, 0),
        ("kernel, cloud-init", 20.0, 1),
        ("bootstrap", 30.0, 0),
        ("register", 8.0, 0),
        ("ready", 12.0, 0),
    ];
    assert_eq!(stages, expected);
    let life = timeline.life.as_ref().unwrap();
    assert_eq!((life.state, life.pool.as_deref()), (LifeState::Joined, Some("default")));
    assert_eq!((timeline.node.as_str(), timeline.outcome), ("a", TimelineOutcome::Succeeded));
    let parsed = |text: &str| serde_json::from_str::<serde_json::Value>(text).unwrap();
    let document = content(std::slice::from_ref(&timeline));
    let json = &document["nodes"][0];
    let life = serde_json::json!(
        {"nodeClaim": "default-1", "pool": "default", "state": "joined", "cause": null}
    );
    assert_eq!(json["life"], life);
    let usual: Vec<_> =
        json["spans"].as_array().unwrap().iter().map(|one| &one["usualSeconds"]).collect();
    assert_eq!(usual[0], 2.5);
    assert!(usual[1..].iter().all(|usual| usual.is_null()), "only stages have one: {usual:?}");
    let chrome = parsed(&mooring_trace::chrome::to_json(&[timeline]));
    let lanes = chrome["traceEvents"].as_array().unwrap().iter();
    let lanes: Vec<_> =
        lanes.filter(|one| one["name"] == "thread_name").map(|one| &one["args"]["name"]).collect();
    assert_eq!(lanes, ["stages", "boot", "bootstrap 3"]);
}

#[test]
fn run_of_a_report_ends_with_its_last_step() {
    // The report counts whole seconds: 60 of them end at 02:01:00, and the last step ends 900 ms later.
    let report =
        r#"{"ExitCode":"0","CSEStartTime":"Sun Nov 15 02:00:00 UTC 2026","ExecDuration":"60"}"#;
    let boot = "2026-11-15 02:09:00,000 - h.py[DEBUG]: start: modules-final: x\n";
    let trace = step("AKS.CSE.ensureKubelet", "02:00:50.000", Some("02:01:00.900"));
    let files = [(REPORT, report), (TRACE, trace.as_str()), ("var/log/cloud-init.log", boot)];
    let timeline = node(&files);
    let run = span(&timeline, "cse_start");
    assert_eq!((run.kind, &run.sources[..]), (SpanKind::Run, &[SpanSource::Report][..]));
    assert_eq!(run.end.to_string(), "2026-11-15T02:01:00.9Z");
    assert_eq!(run.status, SpanStatus::Done);
    // A step that continues in the background does not extend it.
    for end in ["02:01:02.000", "02:01:30.000"] {
        let trace = step("AKS.CSE.ensureKubelet", "02:00:50.000", Some(end));
        let timeline = node(&[(REPORT, report), (TRACE, trace.as_str())]);
        assert_eq!(span(&timeline, "cse_start").end.to_string(), "2026-11-15T02:01:00Z", "{end}");
    }
}

#[test]
fn run_and_steps_have_separate_limits() {
    let report =
        r#"{"ExitCode":"0","CSEStartTime":"Sun Nov 15 02:00:00 UTC 2026","ExecDuration":"61"}"#;
    let trace = step("AKS.CSE.configureCNI", "02:00:10.000", Some("02:00:10.000"));
    let timeline = node(&[(REPORT, report), (TRACE, trace.as_str())]);
    let pace = |name: &str| span(&timeline, name).comparison.map(|one| one.pace);
    assert_eq!(pace("cse_start"), Some(Speed::Slow));
    assert_eq!(pace("configureCNI"), Some(Speed::Usual));
    // Only boot events are instants; a step without duration is a short step.
    assert_eq!(span(&timeline, "configureCNI").status, SpanStatus::Done);
}

#[test]
fn step_above_p99_is_very_slow() {
    let trace = step("AKS.CSE.ensureKubelet", "02:00:00.000", Some("02:02:00.000"));
    let timeline = node(&[(TRACE, trace.as_str())]);
    let comparison = span(&timeline, "ensureKubelet").comparison.unwrap();
    assert_eq!(comparison.pace, Speed::VerySlow);
    let page = mooring_trace::html::page(&[timeline]);
    assert!(page.contains("above p99") && !page.contains("above p95"), "{page}");
}

#[test]
fn step_that_was_running_is_not_another_one_of_its_name() {
    let trace = step("AKS.CSE.a", "02:00:10.000", None);
    let event = r#"{"Timestamp":"2026-11-15 02:00:12.000","OperationId":"2026-11-15 02:00:13.000","TaskName":"AKS.CSE.a"}"#;
    let timeline =
        node(&[(TRACE, trace.as_str()), ("var/log/azure/events/1794708012000.json", event)]);
    let running = timeline.running.as_ref().unwrap();
    let span = &timeline.spans[running.span.unwrap()];
    assert_eq!(
        (span.status, span.start.to_string()),
        (SpanStatus::Unfinished, "2026-11-15T02:00:10Z".to_owned())
    );
}

#[test]
fn single_file_is_classified_by_content() {
    let sources = |text: &str| -> Vec<SpanSource> {
        let timeline = Timeline::of("n", &[file("copy.txt", text)]);
        timeline.spans.iter().flat_map(|span| span.sources.clone()).collect()
    };
    let trace = step("AKS.CSE.ensureKubelet", "02:00:00.000", Some("02:00:02.000"));
    assert_eq!(sources(&trace), [SpanSource::Trace]);
    let event = r#"{"Timestamp":"2026-11-15 02:00:00.000","OperationId":"2026-11-15 02:00:01.000","TaskName":"AKS.CSE.a"}"#;
    assert_eq!(sources(event), [SpanSource::Event]);
    let log = "{\"time\":\"2026-11-15T02:00:00Z\",\"msg\":\"aks-node-controller started\",\"task\":\"Provision\"}\n\
               {\"time\":\"2026-11-15T02:00:09Z\",\"msg\":\"aks-node-controller finished\",\"task\":\"Provision\"}\n";
    assert!(
        sources(log).iter().all(|source| *source == SpanSource::AgentLog),
        "{:?}",
        sources(log)
    );
    // A message of Azure quotes the end of a trace; it is still a message with a code.
    let message = format!(
        "Enable failed: command terminated with exit status=50\n[stdout]\n{{\"ExitCode\":\"50\",\"Output\":\"{}\"}}",
        trace.replace('\n', " ")
    );
    let timeline = Timeline::of("n", &[file("copy.txt", &message)]);
    assert_eq!((timeline.outcome, timeline.exit_code), (TimelineOutcome::Failed, Some(50)));
    // An object of another tool is skipped.
    let timeline = Timeline::of("n", &[file("copy.json", r#"{"msg":"hello","level":"info"}"#)]);
    assert_eq!(timeline.skipped.len(), 1);
    assert!(timeline.is_empty());
}

#[test]
fn report_of_the_node_comes_before_the_message_of_azure() {
    let message = "Enable failed: failed to execute command: command terminated with exit status=50\n[stdout]\n\n[stderr]\n";
    let report = r#"{"ExitCode":"51"}"#;
    let second = r#"{"ExitCode":"52"}"#;
    let code = |files: &[(&str, &str)]| node(files).exit_code;
    assert_eq!(code(&[("var/log/azure/extension.txt", message)]), Some(50));
    // In any order, and the first of two.
    assert_eq!(code(&[("extension.txt", message), (REPORT, report)]), Some(51));
    assert_eq!(code(&[(REPORT, report), ("extension.txt", message)]), Some(51));
    assert_eq!(code(&[(REPORT, report), ("var/log/azure/provision.json", second)]), Some(51));
}

#[test]
fn table_has_a_row_per_hotfix_with_a_message() {
    let rows = |message: &str| -> Vec<String> {
        let event = format!(
            r#"{{"Timestamp":"2026-11-15 02:00:00","TaskName":"AKS.AKSNodeController.Hotfix","Message":"{message}"}}"#
        );
        let timeline = node(&[("var/log/azure/events/1794708000000.json", &event)]);
        let table = mooring_trace::table::table(&[timeline]);
        table.lines().filter(|line| line.contains("hotfix ")).map(str::to_owned).collect()
    };
    assert_eq!(rows("scripts=1"), ["  hotfix      scripts=1"]);
    assert_eq!(rows(""), [""; 0]);
}

#[test]
fn half_and_quarter_hour_time_zones_are_converted() {
    // Named after 02:00:00 UTC, with a local timestamp one second before or after.
    for (local, what) in [
        ("2026-11-15 07:30:01.000", "five and a half hours ahead"),
        ("2026-11-15 07:29:59.000", "the same, before its name was made"),
        ("2026-11-14 22:30:01.000", "three and a half hours back, after its name was made"),
        ("2026-11-15 07:45:01.000", "five and three quarters ahead"),
        ("2026-11-14 22:29:59.000", "three and a half hours back"),
        ("2026-11-15 02:00:00.000", "UTC"),
    ] {
        let event = format!(r#"{{"Timestamp":"{local}","TaskName":"AKS.CSE.a"}}"#);
        let timeline = node(&[("var/log/azure/events/1794708000000.json", &event)]);
        let begin = timeline.extent.unwrap().begin;
        let away = begin.as_second() - 1_794_708_000;
        assert!((-1..=1).contains(&away), "{what}: {begin}");
    }
}

#[test]
fn excess_spans_are_dropped_and_counted() {
    let many: String = (0..5000)
        .map(|at| step(&format!("AKS.CSE.s{at}"), "02:00:00.000", Some("02:00:01.000")))
        .collect();
    let timeline = node(&[(TRACE, &many)]);
    assert_eq!((timeline.spans.len(), timeline.skipped.len()), (5000, 0));
    let event = r#"{"Timestamp":"2026-11-15 02:00:00.000","OperationId":"2026-11-15 02:00:01.000","TaskName":"AKS.AKSNodeController.Provision"}"#;
    let timeline = node(&[(TRACE, &many), ("var/log/azure/events/1794708000000.json", event)]);
    assert_eq!(timeline.spans.len(), 5000);
    assert_eq!(timeline.skipped[0].path, "1 times", "{:?}", timeline.skipped);
    assert!(
        timeline.spans.iter().any(|span| span.kind == SpanKind::Agent),
        "steps are left out first"
    );
}
