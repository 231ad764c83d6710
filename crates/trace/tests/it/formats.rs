//! Every format is well-formed for any input.

use std::collections::BTreeSet;

use crate::support::{content, files, timeline};
use mooring_trace::{Timeline, TraceFile, chrome, html, otlp, read, table::table};
use proptest::prelude::*;
use serde_json::Value;

fn parsed(text: &str) -> Value {
    serde_json::from_str(text).unwrap()
}

/// Elements that are never closed.
const VOID: [&str; 2] = ["meta", "br"];

/// Every tag is closed, in order, and no text opens another.
fn assert_balanced(page: &str) {
    let mut open: Vec<&str> = Vec::new();
    let mut rest = page;
    while let Some(at) = rest.find('<') {
        let tag = &rest[at + 1..];
        let end = tag.find('>').unwrap_or_else(|| panic!("a tag without an end: {tag:.60}"));
        let (inside, behind) = (&tag[..end], &tag[end + 1..]);
        let name = inside.trim_start_matches('/').split([' ', '/']).next().unwrap_or_default();
        assert!(name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '!'), "<{inside}>");
        if inside.starts_with('/') {
            assert_eq!(open.pop(), Some(name), "</{name}>");
        } else if !inside.ends_with('/') && !inside.starts_with('!') && !VOID.contains(&name) {
            open.push(name);
        }
        rest = behind;
    }
    assert!(open.is_empty(), "never closed: {open:?}");
}

fn assert_otlp(text: &str) {
    let document = parsed(text);
    for resource in document["resourceSpans"].as_array().unwrap() {
        assert!(resource["resource"]["attributes"].as_array().is_some_and(|all| !all.is_empty()));
        let spans = resource["scopeSpans"][0]["spans"].as_array().unwrap();
        let ids: BTreeSet<&str> =
            spans.iter().map(|span| span["spanId"].as_str().unwrap()).collect();
        assert_eq!(ids.len(), spans.len(), "ids are unique");
        let is_hex = |text: &str, length| {
            text.len() == length && text.bytes().all(|byte| byte.is_ascii_hexdigit())
        };
        for span in spans {
            assert!(is_hex(span["traceId"].as_str().unwrap(), 32));
            assert!(is_hex(span["spanId"].as_str().unwrap(), 16));
            if let Some(parent) = span["parentSpanId"].as_str() {
                assert!(ids.contains(parent));
            }
            let nanos = |name: &str| span[name].as_str().unwrap().parse::<u64>().unwrap();
            assert!(nanos("startTimeUnixNano") <= nanos("endTimeUnixNano"));
        }
        let roots = spans.iter().filter(|span| span["parentSpanId"].is_null()).count();
        assert!(roots <= 1 && (roots == 1 || spans.is_empty()), "one tree");
    }
}

/// On each thread, complete events do not overlap partially.
fn assert_chrome(text: &str) {
    let document = parsed(text);
    let mut open: Vec<(i64, i64, i64, i64)> = Vec::new();
    for event in
        document["traceEvents"].as_array().unwrap().iter().filter(|event| event["ph"] == "X")
    {
        let number = |name: &str| event[name].as_i64().unwrap();
        let (process, thread, start) = (number("pid"), number("tid"), number("ts"));
        let end = start + number("dur");
        assert!(end >= start);
        for (other_process, other_thread, other_start, other_end) in &open {
            if (*other_process, *other_thread) == (process, thread) {
                let apart = start >= *other_end || end <= *other_start;
                let inside = start >= *other_start && end <= *other_end;
                assert!(apart || inside, "{event}");
            }
        }
        open.push((process, thread, start, end));
    }
}

fn assert_well_formed(timelines: &[Timeline]) {
    assert_balanced(&html::page(timelines));
    assert_eq!(content(timelines)["nodes"].as_array().unwrap().len(), timelines.len());
    assert_otlp(&otlp::to_json(timelines));
    assert_chrome(&chrome::to_json(timelines));
    let text = table(timelines);
    assert!(!text.contains('\u{1b}') && !text.is_empty());
}

#[test]
fn complete_nodes_are_well_formed_in_every_format() {
    assert_well_formed(&[timeline("healthy"), timeline("failed")]);
    assert_well_formed(&[]);
}

#[test]
fn script_as_node_name_is_escaped() {
    let hostile = "</title></svg><script>alert(1)</script>\u{202e}\u{1b}[2J";
    let event = serde_json::json!({
        "Timestamp": "2026-11-15 02:00:00.000", "OperationId": "2026-11-15 02:00:09.000", "TaskName": hostile,
        "Message": hostile, "EventLevel": "Error",
    });
    let path = format!("{hostile}/var/log/azure/events/1794708000000.json");
    let timelines = read(&[TraceFile { path, bytes: event.to_string().into_bytes() }]);
    assert_well_formed(&timelines);
    let page = html::page(&timelines);
    assert!(
        !page.contains("<script") && page.contains("&lt;script&gt;") && !page.contains('\u{202e}')
    );
    assert!(!table(&timelines).contains(['\u{1b}', '\u{202e}']));
}

fn names() -> impl Strategy<Value = String> {
    prop::sample::select(vec![
        "var/log/azure/aks/provision.json",
        "n1/var/log/azure/cluster-provision.log",
        "n2/var/log/azure/Microsoft.Azure.Extensions.CustomScript/events/1794708000000.json",
        "var/log/azure/Microsoft.Azure.Extensions.CustomScript/events/x.json",
        "var/log/azure/aks-node-controller.log",
        "var/log/cloud-init.log",
        "var/log/azure/custom-script/handler.log",
        "var/log/azure/cluster-provision-cse-output.log",
        "etc/os-release",
        "extension.txt",
        "x/extension.txt",
        "anything",
    ])
    .prop_map(str::to_owned)
}

/// Fragments of real files, so that random input passes the first validation.
fn pieces() -> impl Strategy<Value = Vec<u8>> {
    let piece = prop_oneof![
        Just("{\"Timestamp\":\"2026-11-15 02:00:00.000\",\"OperationId\":\"2026-11-15 02:00:01.000\",\"TaskName\":\"AKS.CSE.a\"}".to_owned()),
        Just("+ logs_to_events AKS.CSE.ensureKubelet x\n".to_owned()),
        Just("+ local 'startTime=2026-11-15 02:00:00.000'\n".to_owned()),
        Just("+ local 'endTime=2026-11-15 02:09:00.000'\n".to_owned()),
        Just("+ local 'endTime=0000-01-01 00:00:00.000'\n".to_owned()),
        Just("{\"ExitCode\":\"50\",\"ExecDuration\":\"99999999999\",\"CSEStartTime\":\"Tue May 23 08:35:29 UTC 2023\"}".to_owned()),
        Just("{\"time\":\"9999-12-30T22:00:00Z\",\"msg\":\"aks-node-controller started\",\"task\":\"Provision\"}\n".to_owned()),
        Just("2026-11-15 02:00:02,100 - h.py[DEBUG]: start: init: x\n".to_owned()),
        Just("\"KernelStartTime\":\"Sun -9999-01-01 00:00:00 XYZ\",".to_owned()),
        ".{0,40}".prop_map(|text| text),
    ];
    let text = prop::collection::vec(piece, 0..12).prop_map(|pieces| pieces.concat().into_bytes());
    prop_oneof![3 => text, 1 => prop::collection::vec(any::<u8>(), 0..400)]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 192, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_input_produces_well_formed_output(all in prop::collection::vec((names(), pieces()), 0..6)) {
        let files: Vec<TraceFile> = all.into_iter().map(|(path, bytes)| TraceFile { path, bytes }).collect();
        assert_well_formed(&read(&files));
    }

    #[test]
    fn damaged_node_still_produces_a_timeline(cut in 0_usize..4000, which in 0_usize..60, byte: u8) {
        let mut files = files("healthy");
        let which = which % files.len();
        let bytes = &mut files[which].bytes;
        if !bytes.is_empty() {
            let at = cut % bytes.len();
            bytes[at] = byte;
            bytes.truncate(bytes.len() - (cut % 3) * (bytes.len() / 4));
        }
        let timelines = read(&files);
        prop_assert_eq!(timelines.len(), 1);
        prop_assert!(timelines[0].spans.len() > 30);
        assert_well_formed(&timelines);
    }
}
