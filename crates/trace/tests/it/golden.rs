//! Compares rendered nodes with golden files: positions and lengths of bars, times, marks and text.
//!
//! After an intended change, `MOORING_WRITE_GOLDEN=1 cargo test -p mooring-trace --test it golden` rewrites the files;
//! review the difference.

use std::fmt::Write as _;
use std::path::Path;

use crate::support::{content, timeline};
use mooring_trace::bars::{Bar, BarRow, Chart, Tone, svg};
use mooring_trace::{Timeline, TraceFile, chrome, html, otlp, read, table::table};

/// Fails at the first line that differs from the file.
fn assert_golden(name: &str, shown: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden").join(name);
    if std::env::var_os("MOORING_WRITE_GOLDEN").is_some() {
        std::fs::write(&path, shown).unwrap();
    }
    let golden = std::fs::read_to_string(&path).unwrap();
    for (number, (expected, line)) in golden.lines().zip(shown.lines()).enumerate() {
        assert_eq!(line, expected, "{name}, line {}", number + 1);
    }
    assert_eq!(shown.len(), golden.len(), "{name}: one of them goes on");
}

/// The page without style and version, one tag per line.
fn body(timelines: &[Timeline]) -> String {
    let page = html::page(timelines);
    let (_, body) = page.split_once("<main>").unwrap();
    let (body, footer) = body.split_once("<footer>").unwrap();
    assert!(footer.contains(env!("CARGO_PKG_VERSION")));
    body.replace("><", ">\n<")
}

/// Replaces the text of the diagnosis, which has separate tests.
fn plain(mut timeline: Timeline) -> Timeline {
    if let Some(diagnosis) = &mut timeline.diagnosis {
        "The cause in a sentence.".clone_into(&mut diagnosis.summary);
        diagnosis.actions = ["one", "two", "three", "four"].map(str::to_owned).to_vec();
    }
    timeline
}

fn node(files: &[(&str, &str)]) -> Timeline {
    let file = |(path, text): &(&str, &str)| TraceFile {
        path: format!("odd/var/log/azure/{path}"),
        bytes: (*text).into(),
    };
    plain(read(&files.iter().map(file).collect::<Vec<_>>()).remove(0))
}

/// Edge cases: no files, no end, and a run without a report.
fn odd_nodes() -> Vec<Timeline> {
    const TRACE: &str = "\
+ logs_to_events AKS.CSE.installDeps installDeps
+ local 'startTime=2026-11-15 02:00:10.000'
+ local 'endTime=2026-11-15 02:01:40.000'
+ logs_to_events AKS.CSE.ensureKubelet ensureKubelet
+ local 'startTime=2026-11-15 02:01:45.500'
";
    const FAILED_TASK: &str = r#"{"Timestamp":"2026-11-15 02:00:00.000","OperationId":"2026-11-15 02:02:00.000","TaskName":"AKS.AKSNodeController.Provision","EventLevel":"Error","Message":"it failed"}"#;
    vec![
        node(&[("aks/provision.json", r#"{"ExitCode":"124"}"#)]),
        node(&[("cluster-provision.log", TRACE)]),
        node(&[(
            "Microsoft.Azure.Extensions.CustomScript/events/1794708120000000417.json",
            FAILED_TASK,
        )]),
    ]
}

#[test]
fn complete_nodes_match_golden_files() {
    for name in ["healthy", "failed"] {
        let node = [plain(timeline(name))];
        assert_golden(&format!("{name}.txt"), &table(&node));
        assert_golden(&format!("{name}.html"), &body(&node));
        let pretty = |text: &str| {
            let value: serde_json::Value = serde_json::from_str(text).unwrap();
            serde_json::to_string_pretty(&value).unwrap() + "\n"
        };
        let made_by = env!("CARGO_PKG_VERSION");
        assert_golden(&format!("{name}.json"), &pretty(&content(&node).to_string()));
        assert_golden(&format!("{name}.chrome.json"), &pretty(&chrome::to_json(&node)));
        let otlp = pretty(&otlp::to_json(&node)).replace(made_by, "VERSION");
        assert_golden(&format!("{name}.otlp.json"), &otlp);
    }
}

#[test]
fn incomplete_nodes_match_golden_files() {
    let nodes = odd_nodes();
    assert_golden("odd.txt", &table(&nodes));
    assert_golden("odd.html", &body(&nodes));
    assert_golden("none.txt", &table(&[]));
}

/// A bar of every tone, notes that fit after their bar, before it and nowhere, and a row too many.
#[test]
fn charts_match_golden_files() {
    let tones =
        [Tone::Plain, Tone::Calm, Tone::Slow, Tone::Failed, Tone::Good, Tone::Open, Tone::Empty];
    let mut rows: Vec<BarRow> = tones
        .into_iter()
        .enumerate()
        .map(|(at, tone)| {
            let from = f64::from(u8::try_from(at).unwrap()) * 10.0;
            let bar = Bar { from, to: from + 10.0, tone, outlined: at % 2 == 1 };
            let label = format!("{tone:?} ").repeat(1 + at * 3);
            BarRow {
                label,
                indent: at,
                strong: at == 2,
                bars: vec![bar],
                note: tone_note(at),
                tip: at.to_string(),
            }
        })
        .collect();
    let two = [
        Bar { from: 5.0, to: 5.0, ..Bar::default() },
        Bar { from: 60.0, to: 60.001, ..Bar::default() },
    ];
    rows.push(BarRow {
        label: "two".to_owned(),
        bars: two.to_vec(),
        note: "both".to_owned(),
        ..BarRow::default()
    });
    let mut drawn = svg(&Chart { label: "all".to_owned(), seconds: 70.0, rows });
    let many = vec![BarRow::default(); 402];
    let many = svg(&Chart { label: "many".to_owned(), seconds: 0.0, rows: many });
    for line in many.lines().filter(|line| !line.starts_with("<g>")).take(12) {
        let _ = writeln!(drawn, "{line}");
    }
    for line in many.lines().rev().take(3) {
        let _ = writeln!(drawn, "{line}");
    }
    assert_golden("charts.html", &drawn.replace("><", ">\n<"));
}

fn tone_note(at: usize) -> String {
    "a note that takes its room ".repeat(1 + at)
}
