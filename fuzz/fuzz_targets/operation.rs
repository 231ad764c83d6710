//! Any bytes as a stored operation, and any text as one of its targets: an accepted record names no other host, and round
//! trips.
#![no_main]

use libfuzzer_sys::fuzz_target;
use mooring_arm::{ArmPath, Operation};
use serde_json::{Value, json};
use url::Url;

fuzz_target!(|input: &[u8]| {
    if let Ok(operation) = serde_json::from_slice::<Operation>(input) {
        is_safe(&operation);
    }
    let text = String::from_utf8_lossy(input);
    for field in ["status", "location", "resource", "result"] {
        let record = forged(field, &text);
        let operation = serde_json::from_value::<Operation>(record);
        assert_eq!(operation.is_ok(), ArmPath::parse(&text).is_ok(), "{field}");
        if let Ok(operation) = operation {
            is_safe(&operation);
        }
    }
});

fn forged(field: &str, target: &str) -> Value {
    let mut record = json!({
        "kind": "action",
        "monitor": "resource",
        "resource": "/subscriptions/s/x?api-version=v",
        "started": "2026-05-26T14:40:00Z",
        "next": "2026-05-26T14:40:30Z",
        "correlation_id": "c",
    });
    match field {
        "status" | "location" => record["monitor"] = json!({ field: target }),
        field => record[field] = json!(target),
    }
    record
}

fn is_safe(operation: &Operation) {
    let record = serde_json::to_value(operation).expect("a record can be kept");
    let again: Operation = serde_json::from_value(record.clone()).expect("our own writing");
    assert_eq!(&again, operation);
    let monitor = record["monitor"].as_object().into_iter().flat_map(|monitor| monitor.values());
    let others = [&record["resource"], &record["result"]];
    let origin = Url::parse("https://management.azure.com/").expect("an origin");
    let mut all_under = true;
    for target in monitor.chain(others).filter_map(Value::as_str) {
        let url = origin.join(target).expect("a target is part of a URL");
        assert_eq!(url.origin(), origin.origin(), "{target}");
        let path = ArmPath::parse(target).expect("a kept target was checked");
        all_under &= path.is_under("s");
    }
    assert_eq!(operation.is_under("s"), all_under);
    assert!(!format!("{operation:?}").contains("?"), "no query is printed");
}
