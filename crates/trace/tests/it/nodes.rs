//! Timelines of complete nodes.

use crate::support::{content, files, timeline};
use mooring_trace::table::table;
use mooring_trace::{Span, SpanSource, Timeline, TimelineOutcome, TraceFile, html, read};

fn span<'a>(timeline: &'a Timeline, name: &str) -> &'a Span {
    timeline.spans.iter().find(|span| span.short_name() == name).unwrap_or_else(|| panic!("{name}"))
}

#[test]
fn attempt_before_a_reboot_is_shown_with_the_latest() {
    let failed = files("failed");
    let report = failed.iter().find(|file| file.path.ends_with("aks/provision.json")).unwrap();
    let mut files = files("healthy");
    let path = "healthy/var/log/azure/aks/provision.json.previous".to_owned();
    files.push(TraceFile { path, bytes: report.bytes.clone() });
    let node = read(&files).remove(0);
    assert_eq!((node.outcome, node.exit_code), (TimelineOutcome::Succeeded, Some(0)));
    let (earlier, alone) = (node.earlier.clone().unwrap(), timeline("failed"));
    assert_eq!(earlier.exit_code, alone.exit_code);
    assert_eq!(earlier.diagnosis, alone.diagnosis);
    assert_eq!(node.spans, timeline("healthy").spans, "its times are not mixed into these");
    let reason = alone.diagnosis.unwrap().reason.clone();
    let nodes = [node];
    for text in [table(&nodes), content(&nodes).to_string(), html::page(&nodes)] {
        assert!(text.contains(&reason), "{text}");
    }
    assert!(timeline("healthy").earlier.is_none());
}

#[test]
fn the_same_file_under_two_names_changes_nothing() {
    let mut files = files("healthy");
    let log =
        files.iter().find(|file| file.path.ends_with("/cluster-provision.log")).unwrap().clone();
    let path = "healthy/var/log/azure/aks/cluster-provision.log".to_owned();
    files.push(TraceFile { path, ..log });
    assert_eq!(read(&files)[0].spans, timeline("healthy").spans);
}

#[test]
fn step_is_inferred_without_a_trace() {
    let events = |path: &str| path.contains("/events/");
    let mut files = files("failed");
    files.retain(|file| events(&file.path));
    let node = &read(&files)[0];
    assert_eq!(
        (node.outcome, node.exit_code),
        (TimelineOutcome::Failed, Some(211)),
        "the last event contains the code"
    );
    let running = node.running.as_ref().unwrap();
    assert_eq!(running.name, "AKS.CSE.orasLogin.oras_login_with_kubelet_identity");
    assert!(running.evidence.starts_with("inferred: "));
    assert_eq!(node.spans[running.span.unwrap()].sources, [SpanSource::Concluded]);
}

#[test]
fn report_alone_gives_the_end_of_its_trace() {
    let mut files = files("failed");
    files.retain(|file| file.path.ends_with("provision.json"));
    files[0].path = "somewhere/copy-of-the-report.json".to_owned();
    let node = &read(&files)[0];
    assert_eq!(
        node.running.as_ref().unwrap().name,
        "AKS.CSE.orasLogin.oras_login_with_kubelet_identity"
    );
    assert_eq!(node.diagnosis.as_ref().unwrap().reason, "OrasBinaryMissing");
    assert!(node.spans.iter().any(|span| span.name == "kernel"));
    assert_eq!(span(node, "cse_start").sources, [SpanSource::Report]);
}

#[test]
fn node_in_another_time_zone_is_converted_to_utc() {
    let utc = timeline("failed");
    let mut files = files("failed");
    for file in files.iter_mut().filter(|file| file.path.contains("/events/")) {
        let text = String::from_utf8(file.bytes.clone()).unwrap();
        file.bytes = text.replace("2026-11-15 02:", "2026-11-15 07:").into_bytes();
    }
    files.retain(|file| file.path.contains("/events/"));
    let moved = &read(&files)[0];
    assert_eq!(moved.extent.unwrap().begin, utc.extent.unwrap().begin);
}

#[test]
fn invalid_files_are_listed_as_skipped() {
    let mut files = files("healthy");
    for file in files.iter_mut().filter(|file| file.path.contains("/events/")).take(2) {
        file.bytes.truncate(40);
    }
    files.push(TraceFile {
        path: "healthy/var/log/azure/aks/provision.json".into(),
        bytes: b"hello".to_vec(),
    });
    let node = &read(&files)[0];
    assert_eq!(node.outcome, TimelineOutcome::Succeeded);
    assert_eq!(node.skipped.len(), 3);
    assert!(node.skipped[0].why.starts_with("it ends too early"), "{:?}", node.skipped);
}

#[test]
fn two_nodes_in_one_directory_are_two_timelines() {
    let both: Vec<TraceFile> = [files("healthy"), files("failed")].concat();
    let names: Vec<_> = read(&both).into_iter().map(|one| one.node).collect();
    assert_eq!(names, ["aks-default-2jf98", "aks-default-7kq2c"]);
}

#[test]
fn page_loads_nothing() {
    let page = html::page(&[timeline("failed")]);
    for word in ["<script", "http://", "https://", "src=", "@import", "url(http"] {
        assert!(!page.contains(word), "{word}");
    }
}

#[test]
fn node_with_a_failed_agent_has_no_steps() {
    let report =
        r#"{"ExitCode":"232","Error":"ERR_ORAS_BINARY_NOT_FOUND: oras is missing on this image"}"#;
    let file = mooring_trace::TraceFile {
        path: "var/log/azure/aks/provision.json".to_owned(),
        bytes: report.into(),
    };
    let timeline = mooring_trace::Timeline::of("aks-default-1", &[file]);
    assert_eq!(timeline.exit_code, Some(232));
    assert!(timeline.running.is_none(), "{:?}", timeline.running);
}
