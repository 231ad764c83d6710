use jiff::Timestamp;
use serde_json::json;

use super::*;
use super::{MAX_BYTES, MAX_POOLS};

fn entry(pool: &str, number: i64) -> FailureRecord {
    let uid = format!("uid-{pool}-{number}");
    FailureRecord {
        id: FailureRecord::id_of(&uid, "k"),
        at: Timestamp::from_second(1_800_000_000 + number).unwrap(),
        reported_at: None,
        uid,
        node_claim: format!("{pool}-{number}"),
        pool: pool.to_owned(),
        node_class: "default".to_owned(),
        node: format!("aks-{pool}-{number}"),
        reason: "CSEFailed".to_owned(),
        message: "m".repeat(300),
        note: "n".to_owned(),
        key: "k".to_owned(),
        code: Some(211),
        name: Some("ERR_ORAS_PULL_NETWORK_TIMEOUT".to_owned()),
        effective_code: Some(232),
        cause: "OrasBinaryMissing".to_owned(),
        summary: "oras is missing on the image".to_owned(),
        owner: "image".to_owned(),
        confidence: "high".to_owned(),
        evidence: Some("oras: command not found".to_owned()),
        source: "instance-view".to_owned(),
        unconfirmed: false,
        is_idle: false,
        image: Some("202601.27.0".to_owned()),
        zone: None,
        instance_type: None,
        launched: None,
    }
}

#[test]
fn last_failures_of_a_pool_are_kept() {
    let mut document = RecordDocument::default();
    for number in 0..60 {
        assert!(document.merge(&[entry("a", number)], 50));
    }
    document.merge(&[entry("b", 1)], 50);
    assert_eq!(
        (document.pools["a"].len(), document.pools["b"].len(), document.dropped),
        (50, 1, 10)
    );
    assert_eq!(document.pools["a"][0].node_claim, "a-10");
}

#[test]
fn unconfirmed_failures_are_evicted_first() {
    let unconfirmed = |number| FailureRecord { unconfirmed: true, ..entry("a", number) };
    let mut document = RecordDocument::default();
    document.merge(&(0..50).map(|number| entry("a", number)).collect::<Vec<_>>(), 50);
    let before = document.pools.clone();
    document.merge(&(50..90).map(unconfirmed).collect::<Vec<_>>(), 50);
    assert_eq!((&document.pools, document.dropped), (&before, 40));
    let mut document = RecordDocument::default();
    document.merge(&[unconfirmed(1), unconfirmed(2)], 50);
    // Azure shows the failure after all.
    document.merge(&[FailureRecord { id: "other".to_owned(), ..entry("a", 1) }], 50);
    let uids: Vec<_> = document.entries().map(|entry| (&*entry.uid, entry.unconfirmed)).collect();
    assert_eq!(uids, [("uid-a-1", false), ("uid-a-2", true)]);
    let text = serde_json::to_string(&document).unwrap();
    assert_eq!(text.matches("\"unconfirmed\":true").count(), 1);
}

#[test]
fn failure_is_recorded_once() {
    let mut document = RecordDocument::default();
    assert!(document.merge(&[entry("a", 1), entry("a", 1)], 50));
    assert!(!document.merge(&[entry("a", 1)], 50));
    assert_eq!(document.entries().count(), 1);
}

#[test]
fn merge_order_does_not_change_the_record() {
    let (mut one, mut other) = (RecordDocument::default(), RecordDocument::default());
    one.merge(&[entry("a", 1), entry("b", 2)], 50);
    one.merge(&[entry("a", 3)], 50);
    other.merge(&[entry("a", 3)], 50);
    other.merge(&[entry("b", 2), entry("a", 1)], 50);
    assert_eq!(one, other);
}

#[test]
fn record_fits_into_its_configmap() {
    let mut document = RecordDocument::default();
    let entries: Vec<FailureRecord> = (0..2000)
        .map(|number| FailureRecord {
            message: "\"\\ ".repeat(340),
            ..entry(&format!("pool-{}", number % 40), number)
        })
        .collect();
    document.merge(&entries, 50);
    let object = document.config_map("kube-system", Some("7"));
    assert!(object.to_string().len() < 1024 * 1024, "{}", object.to_string().len());
    assert!(document.dropped > 0 && document.pools.len() == 40);
    let more: Vec<FailureRecord> =
        (0..2 * MAX_POOLS).map(|pool| entry(&format!("more-{pool}"), 1)).collect();
    document.merge(&more, 50);
    assert!(document.pools.len() <= MAX_POOLS + 1);
}

#[test]
fn record_round_trips_through_the_configmap() {
    let mut document = RecordDocument::default();
    document.merge(&[entry("a", 1)], 50);
    let object = document.config_map("kube-system", Some("7"));
    assert_eq!(object["metadata"]["resourceVersion"], "7");
    assert_eq!(RecordDocument::from_config_map(&object).unwrap(), document);
    assert_eq!(
        RecordDocument::from_config_map(&json!({"data": null})).unwrap(),
        RecordDocument::default()
    );
}

#[test]
fn record_of_a_newer_schema_is_rejected() {
    let text = r#"{"schema":"mooring.failures/v2","pools":{}}"#;
    assert!(matches!(RecordDocument::parse(text), Err(RecordError::OtherSchema(_))));
    assert!(matches!(RecordDocument::parse("{"), Err(RecordError::NoDocument(_))));
    let grown = r#"{"schema":"mooring.failures/v1","pools":{},"new":1}"#;
    assert!(RecordDocument::parse(grown).is_ok());
}

#[test]
fn record_is_filled_up_to_its_limit() {
    let mut document = RecordDocument::default();
    let entries: Vec<FailureRecord> =
        (0..2000).map(|number| entry(&format!("pool-{:03}", number % 200), number)).collect();
    document.merge(&entries, 50);
    let size = |entry: &FailureRecord| serde_json::to_string(entry).unwrap().len() + 1;
    let pools: usize = document.pools.keys().map(|pool| pool.len() + 8).sum();
    let bytes = 256 + pools + document.entries().map(size).sum::<usize>();
    let largest = entries.iter().map(size).max().unwrap();
    assert!(bytes <= MAX_BYTES && bytes + largest > MAX_BYTES, "{bytes} of {MAX_BYTES}");
    assert_eq!((document.entries().count() as u64) + document.dropped, 2000);
    assert_eq!(document.pools.len(), 200, "the longest lists are shortened");
}

#[test]
fn image_is_blamed_for_confirmed_failures_of_nodes() {
    for (cause, unconfirmed, expected) in [
        ("OrasBinaryMissing", false, true),
        ("OrasBinaryMissing", true, false),
        ("CSENotCreated", false, false),
        ("NodeNotMatched", false, false),
        ("CSENotCreated", true, false),
    ] {
        let entry = FailureRecord { cause: cause.to_owned(), unconfirmed, ..entry("a", 1) };
        assert_eq!(entry.blames_image(), expected, "{cause} {unconfirmed}");
    }
}
