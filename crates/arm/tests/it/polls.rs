//! Responses to polls of operations: `Location`, the resource at the end, errors.

use crate::common::{Reply, TestWorld, answer, cluster, pool};
use jiff::Timestamp;
use mooring_arm::calls::{DeletePool, Script};
use mooring_arm::{Client, Error, Operation, OperationOutcome, ResourceId, Started};
use serde_json::json;

const LOCATION: (&str, &str) =
    ("Location", "https://management.azure.com/subscriptions/s/operationresults/1");
const STATUS: (&str, &str) =
    ("Azure-AsyncOperation", "https://management.azure.com/subscriptions/s/operations/1");
const SUCCEEDED: &str = r#"{"status":"Succeeded"}"#;
const UPDATING: &str = r#"{"properties":{"provisioningState":"Updating"}}"#;
const DONE: &str = r#"{"name":"system","properties":{"provisioningState":"Succeeded"}}"#;
const NOT_FOUND: &str = r#"{"error":{"code":"NotFound","message":"gone"}}"#;
const QUOTA: &str = r#"{"error":{"code":"QuotaExceeded","message":"m"}}"#;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Call {
    Put,
    Delete,
    Abort,
    Script,
}

async fn start(client: &Client, call: Call) -> Operation {
    let body = json!({});
    let vm = ResourceId::of("s", "rg", "Microsoft.Compute", "virtualMachines/vm1").unwrap();
    let started = match call {
        Call::Put => client.put_agent_pool(&pool(), &body, None).await,
        Call::Delete => client.delete_agent_pool(&pool(), &DeletePool::default()).await,
        Call::Abort => client.abort_cluster(&cluster()).await,
        Call::Script => client.run_script(&vm, &Script { lines: &["true"] }).await,
    };
    match started.unwrap() {
        Started::Running(operation) => operation,
        Started::Done(outcome) => panic!("finished: {outcome:?}"),
    }
}

/// Returns the end of an operation with these responses, all of which must be read.
async fn end(call: Call, replies: Vec<Reply>) -> Result<OperationOutcome, Error> {
    let world = TestWorld::new(replies);
    let client = world.client();
    let mut operation = start(&client, call).await;
    let result = client.wait(&mut operation, Timestamp::MAX, |_, _| {}).await;
    assert_eq!(world.remaining_replies(), 0, "{call:?}: {result:?}");
    result
}

fn text(outcome: OperationOutcome) -> Option<String> {
    match outcome {
        OperationOutcome::Succeeded(document) => document.map(|document| document.to_string()),
        other => panic!("{other:?}"),
    }
}

#[tokio::test(start_paused = true)]
async fn location_of_a_write_may_return_a_resource_that_changes() {
    let accepted = || answer(202, &[LOCATION], "");
    let updating = || answer(200, &[], UPDATING);
    let done = || answer(200, &[], DONE);
    let written = end(Call::Put, vec![accepted(), updating(), done(), done()]).await;
    assert_eq!(text(written.unwrap()).as_deref(), Some(DONE));
    for call in [Call::Delete, Call::Abort] {
        let ended = end(call, vec![accepted(), updating()]).await;
        assert_eq!(text(ended.unwrap()), None, "{call:?}");
    }
    let output = end(Call::Script, vec![accepted(), updating()]).await;
    assert_eq!(text(output.unwrap()).as_deref(), Some(UPDATING));
}

#[tokio::test(start_paused = true)]
async fn resource_may_be_deleted_after_a_successful_write() {
    let replies = |last| vec![answer(201, &[STATUS], ""), answer(200, &[], SUCCEEDED), last];
    let gone = end(Call::Put, replies(answer(404, &[], NOT_FOUND))).await;
    assert_eq!(text(gone.unwrap()), None);
    let forbidden = end(Call::Put, replies(answer(403, &[], ""))).await;
    assert_eq!(forbidden.unwrap_err().reason(), "Forbidden");
}

#[tokio::test(start_paused = true)]
async fn error_of_a_location_is_the_result_of_the_operation() {
    let polled = |header, status| vec![answer(202, &[header], ""), answer(status, &[], QUOTA)];
    for status in [400, 409] {
        let outcome = end(Call::Delete, polled(LOCATION, status)).await.unwrap();
        assert!(
            matches!(&outcome, OperationOutcome::Failed(refusal) if refusal.has_code("QuotaExceeded")),
            "{outcome:?}"
        );
        let error = end(Call::Delete, polled(STATUS, status)).await.unwrap_err();
        assert_eq!(error.refusal().map(|refusal| refusal.status), Some(status));
    }
    let error = end(Call::Delete, polled(LOCATION, 403)).await.unwrap_err();
    assert_eq!(error.reason(), "Forbidden");
}

#[tokio::test(start_paused = true)]
async fn unknown_operation_ends_by_its_kind() {
    let missing = || answer(404, &[], NOT_FOUND);
    let unknown = |more| {
        let mut replies = vec![answer(202, &[STATUS], ""), missing(), missing(), missing()];
        replies.extend(more);
        replies
    };
    let error = end(Call::Put, unknown(Some(answer(403, &[], "")))).await.unwrap_err();
    assert_eq!(error.reason(), "Forbidden", "the state of the resource is not known");
    let script = end(Call::Script, unknown(None)).await.unwrap();
    assert!(matches!(script, OperationOutcome::Lost { state: None }), "{script:?}");
}
