//! Alerts and dashboard match the metrics of the controller, and every alert has a runbook page.

use std::collections::{BTreeMap, BTreeSet};

use mooring_controller::metrics::{ArmSnapshot, FailedNode, Metrics, WriteLabel};
use mooring_controller::state::QueueLengths;
use mooring_nodes::verdict::ConditionReason;
use serde_json::Value;

use crate::chart::helm::chart;

fn read(file: &str) -> String {
    std::fs::read_to_string(chart().join("files").join(file)).unwrap()
}

fn alerts() -> Vec<Value> {
    let file: Value = serde_saphyr::from_str(&read("alerts.yaml")).unwrap();
    file["alerts"].as_array().unwrap().clone()
}

/// Returns the metrics page with all metrics present.
fn metrics_page() -> String {
    let failed =
        |pool: String| FailedNode { code: Some(1), cause: "c".into(), pool, image: "i".into() };
    let metrics = Metrics::new();
    for number in 0..100 {
        metrics.failed(&failed(number.to_string()));
    }
    metrics.not_registered(&failed("p".into()));
    metrics.image_fails("i", "c");
    metrics.verdict(ConditionReason::CseFailed, 1.0);
    metrics.wrote(WriteLabel::Event);
    metrics.write_failed(WriteLabel::Event);
    metrics.lengths(QueueLengths::default());
    metrics.arm(ArmSnapshot::default());
    metrics.leads(true);
    metrics.text()
}

/// Returns the series of a page by name, with their label pairs.
fn series(page: &str) -> BTreeMap<String, BTreeSet<(String, String)>> {
    let mut series: BTreeMap<String, BTreeSet<(String, String)>> = BTreeMap::new();
    for line in page.lines().filter(|line| !line.starts_with('#')) {
        let (name, rest) = line.split_once(['{', ' ']).unwrap();
        let labels = rest.rsplit_once('}').map_or("", |(labels, _)| labels);
        series.entry(name.to_owned()).or_default().extend(pairs(labels));
    }
    series
}

/// Parses `a="1",b="2"`.
fn pairs(text: &str) -> impl Iterator<Item = (String, String)> {
    text.split("\",").filter_map(|pair| {
        let (name, value) = pair.split_once("=\"")?;
        Some((name.to_owned(), value.trim_end_matches('"').to_owned()))
    })
}

fn exported() -> BTreeSet<String> {
    series(&metrics_page()).into_keys().collect()
}

/// Returns the names of Mooring metrics in a text.
fn metric_names(text: &str) -> BTreeSet<String> {
    let word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let words = text.split(|c| !word(c)).filter(|name| name.starts_with("mooring_"));
    words.map(str::to_owned).collect()
}

#[test]
fn alerts_and_dashboard_use_exported_metrics() {
    let exported = exported();
    assert!(exported.contains("mooring_verdict_seconds_bucket"), "{exported:?}");
    for alert in alerts() {
        let names = metric_names(alert["expr"].as_str().unwrap());
        assert!(!names.is_empty() && names.is_subset(&exported), "{}: {names:?}", alert["alert"]);
    }
    let dashboard: Value = serde_json::from_str(&read("dashboard.json")).unwrap();
    let shown = metric_names(&dashboard.to_string());
    assert!(shown.is_subset(&exported), "{:?}", shown.difference(&exported));
    // The dashboard shows all metrics except the version and two parts of a histogram.
    let missing: Vec<&String> = exported.difference(&shown).collect();
    let expected =
        ["mooring_build_info", "mooring_verdict_seconds_count", "mooring_verdict_seconds_sum"];
    assert_eq!(missing, expected);
}

/// Returns the metrics of an expression with the label pairs that select them.
fn selectors(expression: &str) -> Vec<(String, (String, String))> {
    let mut selected = Vec::new();
    for (at, _) in expression.match_indices('{') {
        let name =
            metric_names(expression[..at].rsplit([' ', '(']).next().unwrap()).pop_first().unwrap();
        let inside = expression[at + 1..].split('}').next().unwrap();
        selected.extend(pairs(inside).map(|pair| (name.clone(), pair)));
    }
    selected
}

#[test]
fn alerts_use_exported_labels() {
    // Added by the scrape.
    const ADDED: &str = "namespace";
    let exported = series(&metrics_page());
    let mut count = 0;
    for alert in alerts() {
        let expression = alert["expr"].as_str().unwrap();
        for (name, pair) in selectors(expression) {
            count += 1;
            assert!(exported[&name].contains(&pair), "{name} is never exported with {pair:?}");
        }
        let labels: BTreeSet<&str> = metric_names(expression)
            .iter()
            .flat_map(|name| &exported[name])
            .map(|(label, _)| label.as_str())
            .chain([ADDED])
            .collect();
        for group in expression.split("by (").skip(1) {
            let group = group.split(')').next().unwrap();
            for label in group.split(", ") {
                assert!(labels.contains(label), "{}: {label}", alert["alert"]);
            }
        }
    }
    assert!(count > 0, "alerts select by labels");
}

#[test]
fn every_alert_has_a_runbook_page() {
    let runbook = std::fs::read_to_string(chart().join("../../docs/RUNBOOK.md")).unwrap();
    let pages: Vec<&str> = runbook.lines().filter_map(|line| line.strip_prefix("## ")).collect();
    for alert in alerts() {
        let name = alert["alert"].as_str().unwrap();
        assert!(pages.contains(&name), "{name} has no page in docs/RUNBOOK.md");
        for text in ["summary", "description"] {
            assert!(alert["annotations"][text].is_string(), "{name} has no {text}");
        }
    }
    for page in pages.iter().filter(|page| page.starts_with("Mooring")) {
        assert!(alerts().iter().any(|alert| alert["alert"] == **page), "{page}: no such alert");
    }
}
