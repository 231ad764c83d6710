//! Precedence of headers, and responses without headers.

use bytes::Bytes;
use http::{HeaderMap, Method, StatusCode};
use jiff::Timestamp;

use super::start::started;
use super::*;
use crate::cloud::{Cloud, CloudSettings};
use crate::error::ErrorKind;
use crate::path::ArmPath;
use crate::request::{Call, Response};
use crate::request_class::Class;

const POOL: &str = "/subscriptions/s/resourceGroups/r/providers/Microsoft.ContainerService/managedClusters/c/agentPools/p";

fn begin(
    method: Method,
    kind: WriteKind,
    status: u16,
    headers: &[(&'static str, &str)],
    body: &str,
) -> Result<Started, ErrorKind> {
    let mut map = HeaderMap::new();
    for (name, value) in headers {
        map.insert(*name, value.parse().unwrap());
    }
    let response = Response {
        status: StatusCode::from_u16(status).unwrap(),
        headers: map,
        body: Bytes::from(body.to_owned()),
        correlation_id: "corr".to_owned(),
    };
    let path = if kind == WriteKind::Abort { format!("{POOL}/abort") } else { POOL.to_owned() };
    let call = Call::new(method, Class::Idempotent, &path, "v").unwrap().query("a", "b");
    let cloud = Cloud::new(CloudSettings::default()).unwrap();
    started(&cloud, &call, kind, &response, Timestamp::UNIX_EPOCH)
}

fn running(started: Result<Started, ErrorKind>) -> Operation {
    match started.unwrap() {
        Started::Running(operation) => operation,
        Started::Done(outcome) => panic!("over: {outcome:?}"),
    }
}

const STATUS: (&str, &str) = ("azure-asyncoperation", "https://management.azure.com/ops/1?t=sig");
const OPERATION: (&str, &str) = ("operation-location", "https://management.azure.com/ops/2");
const LOCATION: (&str, &str) = ("location", "https://management.azure.com/ops/3");

#[test]
fn headers_take_precedence_over_the_body() {
    let creating = r#"{"properties":{"provisioningState":"Creating"}}"#;
    let target = |path: &str| ArmPath::parse(path).unwrap();
    let status = |path: &str| Monitor::Status(target(path));
    for (code, headers, monitor) in [
        (201, vec![LOCATION, OPERATION, STATUS], status("/ops/1?t=sig")),
        (200, vec![STATUS], status("/ops/1?t=sig")),
        (202, vec![LOCATION, OPERATION], status("/ops/2")),
        (202, vec![LOCATION], Monitor::Location(target("/ops/3"))),
        (201, vec![LOCATION], Monitor::Resource),
        (200, vec![], Monitor::Resource),
    ] {
        let operation = running(begin(Method::PUT, WriteKind::Write, code, &headers, creating));
        assert!(operation.monitor == monitor, "{code} {headers:?}");
        assert_eq!(operation.resource.as_str(), format!("{POOL}?api-version=v"));
        assert_eq!(operation.next, "1970-01-01T00:00:30Z".parse().unwrap());
    }
}

#[test]
fn first_response_sets_the_time_of_the_next_poll() {
    for (retry_after, next) in [("10", 10), ("0", 1)] {
        let operation = running(begin(
            Method::DELETE,
            WriteKind::Delete,
            202,
            &[STATUS, ("retry-after", retry_after)],
            "",
        ));
        assert_eq!(operation.next.as_second(), next);
    }
}

#[test]
fn finished_write_is_done() {
    let over = |method, kind, status, body| match begin(method, kind, status, &[], body).unwrap() {
        Started::Done(outcome) => outcome,
        Started::Running(operation) => panic!("goes on: {operation:?}"),
    };
    assert!(over(Method::DELETE, WriteKind::Delete, 204, "").is_success());
    assert!(over(Method::POST, WriteKind::Abort, 204, "").is_success());
    let done = over(
        Method::PUT,
        WriteKind::Write,
        200,
        r#"{"properties":{"provisioningState":"Succeeded"}}"#,
    );
    assert!(matches!(done, OperationOutcome::Succeeded(Some(_))));
    let failed = over(
        Method::PUT,
        WriteKind::Write,
        200,
        r#"{"properties":{"provisioningState":"Failed"}}"#,
    );
    assert!(matches!(failed, OperationOutcome::Failed(_)) && !failed.is_success());
    let deleting = r#"{"properties":{"provisioningState":"Deleting"}}"#;
    for (method, kind, body, has_body) in [
        (Method::DELETE, WriteKind::Delete, "", false),
        (Method::DELETE, WriteKind::Delete, deleting, true),
        (Method::POST, WriteKind::Action, deleting, true),
        (Method::PUT, WriteKind::Write, "{}", true),
    ] {
        let outcome = over(method, kind, 200, body);
        assert!(
            matches!(&outcome, OperationOutcome::Succeeded(document) if document.is_some() == has_body),
            "{kind:?} {body}: {outcome:?}"
        );
    }
}

#[test]
fn accepted_write_without_state_is_followed_by_its_resource() {
    for (status, body) in [(202, "{}"), (202, ""), (200, ""), (201, "{")] {
        let operation = running(begin(Method::PUT, WriteKind::Write, status, &[], body));
        assert!(operation.monitor == Monitor::Resource, "{status} {body}");
    }
}

#[test]
fn accepted_call_without_status_header_is_an_error() {
    for (method, kind) in [(Method::DELETE, WriteKind::Delete), (Method::POST, WriteKind::Abort)] {
        assert!(matches!(begin(method, kind, 202, &[], ""), Err(ErrorKind::Malformed(_))));
    }
}

#[test]
fn link_to_another_host_is_rejected() {
    let foreign = [("azure-asyncoperation", "https://evil.example/ops/1")];
    let error = begin(Method::PUT, WriteKind::Write, 201, &foreign, "{}").unwrap_err();
    assert!(matches!(error, ErrorKind::ForeignLink(origin) if origin == "https://evil.example"));
}

#[test]
fn record_contains_no_host_and_prints_no_signature() {
    let operation = running(begin(Method::POST, WriteKind::Abort, 202, &[STATUS, LOCATION], ""));
    assert_eq!(operation.resource(), POOL);
    let text = serde_json::to_string(&operation).unwrap();
    assert!(!text.contains("management.azure.com"), "{text}");
    assert_eq!(serde_json::from_str::<Operation>(&text).unwrap(), operation);
    let printed = format!("{operation:?}");
    assert!(printed.contains(POOL) && !printed.contains("sig"), "{printed}");
}

/// A record with one target of it replaced.
fn forged(field: &str, target: &str) -> Result<Operation, serde_json::Error> {
    let operation = running(begin(Method::POST, WriteKind::Action, 202, &[STATUS, LOCATION], ""));
    let mut record = serde_json::to_value(&operation).unwrap();
    let place = match field {
        "status" | "location" => {
            record["monitor"] = serde_json::json!({ field: "" });
            &mut record["monitor"][field]
        }
        field => &mut record[field],
    };
    *place = target.into();
    serde_json::from_value(record)
}

const FIELDS: [&str; 4] = ["status", "location", "resource", "result"];

#[test]
fn record_with_a_hostile_target_is_rejected() {
    for field in FIELDS {
        assert!(forged(field, "/subscriptions/s/x").is_ok(), "{field}");
        for target in crate::path::tests::hostile() {
            assert!(forged(field, target).is_err(), "{field} {target:?}");
        }
    }
}

#[test]
fn record_of_another_subscription_is_recognized() {
    let link = |id: &str| format!("https://management.azure.com/subscriptions/{id}/x?t=1");
    let own = |id: &str| {
        let headers = [("azure-asyncoperation", link(id)), ("location", link(id))];
        let headers = headers.each_ref().map(|(name, link)| (*name, link.as_str()));
        running(begin(Method::POST, WriteKind::Action, 202, &headers, ""))
    };
    assert!(own("s").is_under("S") && !own("s").is_under("t") && !own("t").is_under("s"));
    for field in FIELDS {
        let mut record = serde_json::to_value(own("s")).unwrap();
        let foreign = serde_json::json!("/subscriptions/t/x");
        match field {
            "status" | "location" => record["monitor"] = serde_json::json!({ field: foreign }),
            field => record[field] = foreign,
        }
        let operation: Operation = serde_json::from_value(record).unwrap();
        assert!(!operation.is_under("s"), "{field}");
    }
}

#[test]
fn unknown_state_is_not_terminal() {
    for (text, expected) in [
        ("Succeeded", OperationState::Succeeded),
        ("succeeded", OperationState::Succeeded),
        ("Failed", OperationState::Failed),
        ("Canceled", OperationState::Canceled),
        ("Cancelled", OperationState::Canceled),
        ("Canceling", OperationState::Running),
        ("InProgress", OperationState::Running),
        ("Scaling", OperationState::Running),
        ("", OperationState::Running),
    ] {
        assert_eq!(state(text), expected, "{text}");
    }
}

#[test]
fn replaced_differs_from_canceled_and_failed() {
    let refusal = |code: &str, message: &str| AzureError {
        code: Some(code.to_owned()),
        message: message.to_owned(),
        ..AzureError::default()
    };
    let later = "11111111-2222-3333-4444-555555555555";
    let overriden =
        format!("The operation was overriden and canceled by a later operation {later}.");
    assert!(
        matches!(failure(OperationState::Canceled, refusal("Canceled", &overriden)), OperationOutcome::Replaced { by: Some(by), .. } if by == later)
    );
    let zeros = "00000000-0000-0000-0000-000000000000";
    for (message, expected) in [
        (format!("superseded by {zeros}"), None),
        (
            format!("{zeros} was superseded by {}", later.replace('1', "A")),
            Some("aaaaaaaa-2222-3333-4444-555555555555"),
        ),
    ] {
        let outcome = failure(OperationState::Canceled, refusal("Canceled", &message));
        assert!(
            matches!(&outcome, OperationOutcome::Replaced { by, .. } if by.as_deref() == expected),
            "{outcome:?}"
        );
    }
    assert!(matches!(
        failure(
            OperationState::Failed,
            refusal("OperationPreempted", "preempted by a more recent operation")
        ),
        OperationOutcome::Replaced { by: None, .. }
    ));
    assert!(matches!(
        failure(OperationState::Canceled, refusal("Canceled", "canceled by the user")),
        OperationOutcome::Canceled(_)
    ));
    assert!(matches!(
        failure(OperationState::Failed, refusal("Quota", "the policy overrides nothing")),
        OperationOutcome::Failed(_)
    ));
}
