use mooring_nodes::verdict::ConditionReason;

use super::registry::MAX_VALUES;
use super::*;
use crate::state::{DropCounts, QueueLengths};
use crate::verdict::patch::StatusPatchKind;

fn failed(pool: &str, image: &str) -> FailedNode {
    FailedNode {
        code: Some(211),
        cause: "OrasBinaryMissing".into(),
        pool: pool.into(),
        image: image.into(),
    }
}

#[test]
fn metrics_are_in_openmetrics_format() {
    let metrics = Metrics::new();
    metrics.failed(&failed("default", "202601.27.0"));
    metrics.failed(&failed("default", "202601.27.0"));
    metrics.verdict(ConditionReason::CseFailed, 95.0);
    metrics.wrote(WriteLabel::Patch(StatusPatchKind::Verdict));
    metrics.wrote(WriteLabel::Patch(StatusPatchKind::Reassert));
    metrics.lengths(QueueLengths {
        claims: 5000,
        pending: 3,
        waiting: 1,
        nodes_without_provider_id: 2,
    });
    metrics.arm(ArmSnapshot { requests: 10, throttled: 1, budget_left: 124.5 });
    metrics.leads(true);
    metrics.deferred(4);
    metrics.dropped(DropCounts { deleted: 6, events: 7, writes: 8 });
    metrics.not_registered(&failed("default", "i"));
    metrics.not_registered(&FailedNode { cause: "KubeletFailed".into(), ..failed("p", "k") });
    metrics.image_fails("i", "X");
    metrics.image_fails("j", "X");
    metrics.image_recovered("j", "X");
    for write in [WriteLabel::Event, WriteLabel::Record, WriteLabel::Counts, WriteLabel::Lease] {
        metrics.write_failed(write);
    }
    let text = metrics.text();
    for line in [
        r#"mooring_cse_failures_total{code="211",reason="OrasBinaryMissing",nodepool="default",image="202601.27.0"} 2"#,
        r#"mooring_verdict_seconds_bucket{le="120.0",kind="CSEFailed"} 1"#,
        r#"mooring_verdict_seconds_bucket{le="90.0",kind="CSEFailed"} 0"#,
        r#"mooring_writes_total{kind="condition"} 1"#,
        r#"mooring_writes_total{kind="condition_reassert"} 1"#,
        r#"mooring_queue_length{kind="claims"} 5000"#,
        r#"mooring_queue_length{kind="pending"} 3"#,
        r#"mooring_queue_length{kind="waiting"} 1"#,
        "mooring_nodes_without_provider_id 2",
        "mooring_arm_throttled_total 1",
        "mooring_arm_requests_total 10",
        "mooring_arm_budget_left 124.5",
        "mooring_leader 1",
        concat!("mooring_build_info{version=\"", env!("CARGO_PKG_VERSION"), "\"} 1"),
        "mooring_writes_deferred_total 4",
        r#"mooring_dropped_total{kind="nodeclaim"} 6"#,
        r#"mooring_dropped_total{kind="event"} 7"#,
        r#"mooring_dropped_total{kind="write"} 8"#,
        r#"mooring_nodes_not_registered_total{code="211",reason="OrasBinaryMissing",nodepool="default",image="i"} 1"#,
        "mooring_failures_without_rule_total 1",
        r#"mooring_image_fails_bootstrap{image="i",reason="X"} 1"#,
        r#"mooring_image_fails_bootstrap{image="j",reason="X"} 0"#,
        r#"mooring_write_failures_total{kind="event"} 1"#,
        r#"mooring_write_failures_total{kind="record"} 1"#,
        r#"mooring_write_failures_total{kind="counts"} 1"#,
        r#"mooring_write_failures_total{kind="lease"} 1"#,
    ] {
        assert!(text.lines().any(|is| is == line), "{line}\n{text}");
    }
    assert!(text.ends_with("# EOF\n"));
}

#[test]
fn cardinality_is_bounded_and_overflow_is_counted() {
    let metrics = Metrics::new();
    for number in 0..1000 {
        metrics.failed(&failed(&format!("pool-{number}"), "i"));
    }
    let text = metrics.text();
    let series =
        text.lines().filter(|line| line.starts_with("mooring_cse_failures_total{")).count();
    assert_eq!(series, MAX_VALUES + 1);
    assert!(text.contains(r#"nodepool="other",image="i"} 936"#), "{text}");
    assert!(text.contains(r#"mooring_label_overflows_total{kind="nodepool"} 936"#));
}

#[test]
fn label_values_are_escaped() {
    let metrics = Metrics::new();
    metrics.failed(&FailedNode {
        code: Some(i32::MAX),
        cause: "\"} 1\nfake_metric 7".into(),
        pool: "a\"b\\c\n\u{202e}".into(),
        image: "x".repeat(5000),
    });
    let text = metrics.text();
    assert!(!text.lines().any(|line| line.starts_with("fake_metric")));
    let line = text.lines().find(|line| line.starts_with("mooring_cse_failures_total{")).unwrap();
    assert!(line.is_ascii() && line.len() < 300, "{line}");
    assert!(line.contains(r#"code="other""#) && line.contains(r#"nodepool="a_b_c__""#), "{line}");
}

#[test]
fn unknown_label_values_are_named_unknown() {
    let metrics = Metrics::new();
    metrics.failed(&FailedNode {
        code: None,
        cause: "NoCode".into(),
        pool: String::new(),
        image: String::new(),
    });
    assert!(
        metrics
            .text()
            .contains(r#"{code="none",reason="NoCode",nodepool="unknown",image="unknown"} 1"#)
    );
}
