//! Long-running operations followed to their end, under virtual time.

use std::time::Duration;

use crate::common::{Reply, TestWorld, answer, cluster, pool};
use jiff::Timestamp;
use mooring_arm::calls::{DeletePool, Script, ScriptOutput};
use mooring_arm::{
    Client, ErrorKind, Operation, OperationOutcome, OperationProgress, ResourceId, Started, World,
};
use serde_json::{Value, json};

const STATUS: (&str, &str) = (
    "Azure-AsyncOperation",
    "https://management.azure.com/subscriptions/s/providers/Microsoft.ContainerService/locations/l/operations/1?t=signed",
);
const DONE: &str = r#"{"name":"system","properties":{"provisioningState":"Succeeded"}}"#;
const NOT_FOUND: &str = r#"{"error":{"code":"NotFound","message":"gone"}}"#;

fn status(word: &str) -> Reply {
    answer(200, &[], &format!(r#"{{"status":"{word}"}}"#))
}

fn body() -> Value {
    json!({"properties":{"count":1}})
}

async fn put(client: &Client) -> Operation {
    match client.put_agent_pool(&pool(), &body(), None).await.unwrap() {
        Started::Running(operation) => operation,
        Started::Done(outcome) => panic!("finished: {outcome:?}"),
    }
}

async fn delete(client: &Client) -> Operation {
    match client.delete_agent_pool(&pool(), &DeletePool::default()).await.unwrap() {
        Started::Running(operation) => operation,
        Started::Done(outcome) => panic!("finished: {outcome:?}"),
    }
}

async fn follow(client: &Client, operation: &mut Operation) -> OperationOutcome {
    client.wait(operation, Timestamp::MAX, |_, _| {}).await.unwrap()
}

#[tokio::test(start_paused = true)]
async fn operation_has_the_time_of_the_next_poll() {
    let world =
        TestWorld::new([answer(201, &[STATUS, ("Retry-After", "10")], DONE), status("InProgress")]);
    let client = world.client();
    let mut operation = put(&client).await;
    let started = operation.started();
    assert_eq!(operation.next(), started + Duration::from_secs(10));
    tokio::time::sleep(Duration::from_secs(10)).await;
    assert!(matches!(
        client.poll(&mut operation).await.unwrap(),
        OperationProgress::Running { .. }
    ));
    assert!(operation.next() > started + Duration::from_secs(10));
}

#[tokio::test(start_paused = true)]
async fn write_is_polled_as_azure_requests_and_read_at_its_end() {
    let world = TestWorld::new([
        answer(
            201,
            &[STATUS, ("Retry-After", "10")],
            r#"{"properties":{"provisioningState":"Creating"}}"#,
        ),
        answer(200, &[("Retry-After", "5")], r#"{"status":"InProgress","percentComplete":40.0}"#),
        status("InProgress"),
        status("Succeeded"),
        answer(200, &[], DONE),
    ]);
    let client = world.client();
    let mut operation = put(&client).await;
    assert!(matches!(
        client.poll(&mut operation).await.unwrap(),
        OperationProgress::Running { percent: Some(40), .. }
    ));
    let outcome = follow(&client, &mut operation).await;
    assert!(
        matches!(outcome, OperationOutcome::Succeeded(Some(document)) if format!("{document}") == DONE)
    );
    assert_eq!(world.times(), [0, 10, 15, 45, 45], "10 and 5 as requested, 30 by default");
    assert!(world.seen(1).target.ends_with("operations/1?t=signed"));
}

#[tokio::test(start_paused = true)]
async fn outcomes_are_distinguished() {
    let later = "11111111-2222-3333-4444-555555555555";
    let overriden = format!(
        r#"{{"status":"Canceled","error":{{"code":"Canceled","message":"The operation was overriden and canceled by a later operation {later}."}}}}"#
    );
    for (end, expected) in [
        (
            r#"{"status":"Failed","error":{"code":"ReconcileVMSSAgentPoolFailed","message":"m","details":[{"code":"NetworkingInternalOperationError"}]}}"#,
            "Failed",
        ),
        (
            r#"{"status":"Canceled","error":{"code":"Canceled","message":"by the user"}}"#,
            "Canceled",
        ),
        (overriden.as_str(), "Replaced"),
    ] {
        let world = TestWorld::new([answer(201, &[STATUS], ""), answer(200, &[], end)]);
        let client = world.client();
        let outcome = follow(&client, &mut put(&client).await).await;
        let word = match outcome {
            OperationOutcome::Failed(refusal) => {
                assert!(refusal.has_code("NetworkingInternalOperationError"));
                "Failed"
            }
            OperationOutcome::Canceled(_) => "Canceled",
            OperationOutcome::Replaced { by, .. } => {
                assert_eq!(by.as_deref(), Some(later));
                "Replaced"
            }
            other => panic!("{other:?}"),
        };
        assert_eq!(word, expected);
    }
}

#[tokio::test(start_paused = true)]
async fn unknown_operation_is_resolved_by_the_resource() {
    let missing = || answer(404, &[], NOT_FOUND);
    let world = TestWorld::new([
        answer(201, &[STATUS], ""),
        missing(),
        missing(),
        missing(),
        answer(200, &[], r#"{"properties":{"provisioningState":"Creating"}}"#),
        answer(200, &[], DONE),
    ]);
    let client = world.client();
    let outcome = follow(&client, &mut put(&client).await).await;
    assert!(matches!(outcome, OperationOutcome::Succeeded(Some(_))), "{outcome:?}");
    assert_eq!(world.remaining_replies(), 0);

    // A deletion succeeded if the resource does not exist; otherwise its result is unknown.
    for (resource, expected) in [(missing(), "Succeeded"), (answer(200, &[], DONE), "Lost")] {
        let world =
            TestWorld::new([answer(202, &[STATUS], ""), missing(), missing(), missing(), resource]);
        let client = world.client();
        let outcome = follow(&client, &mut delete(&client).await).await;
        let word = match outcome {
            OperationOutcome::Succeeded(None) => "Succeeded",
            OperationOutcome::Lost { state: Some(_) } => "Lost",
            other => panic!("{other:?}"),
        };
        assert_eq!(word, expected);
    }
}

#[tokio::test(start_paused = true)]
async fn single_not_found_is_ignored() {
    let world = TestWorld::new([
        answer(202, &[STATUS], ""),
        answer(404, &[], NOT_FOUND),
        status("InProgress"),
        status("Succeeded"),
    ]);
    let client = world.client();
    assert!(follow(&client, &mut delete(&client).await).await.is_success());
    assert_eq!(world.remaining_replies(), 0);
}

#[tokio::test(start_paused = true)]
async fn not_found_responses_count_only_in_a_row() {
    let missing = || answer(404, &[], NOT_FOUND);
    let world = TestWorld::new([
        answer(202, &[STATUS], ""),
        missing(),
        missing(),
        status("InProgress"),
        missing(),
        missing(),
        status("InProgress"),
        status("Succeeded"),
    ]);
    let client = world.client();
    assert!(follow(&client, &mut delete(&client).await).await.is_success());
    assert_eq!(world.remaining_replies(), 0);
}

#[tokio::test(start_paused = true)]
async fn written_resource_is_lost_after_three_not_found_responses() {
    let missing = || answer(404, &[], NOT_FOUND);
    let forgotten = || [answer(201, &[STATUS], ""), missing(), missing(), missing()];
    for (resource, expected) in [
        (vec![missing(), missing(), missing()], "Lost"),
        (vec![missing(), missing(), answer(200, &[], DONE)], "Succeeded"),
    ] {
        let world = TestWorld::new(forgotten().into_iter().chain(resource));
        let client = world.client();
        let outcome = match follow(&client, &mut put(&client).await).await {
            OperationOutcome::Lost { state: None } => "Lost",
            OperationOutcome::Succeeded(Some(_)) => "Succeeded",
            other => panic!("{other:?}"),
        };
        assert_eq!((outcome, world.remaining_replies()), (expected, 0));
    }
}

#[tokio::test(start_paused = true)]
async fn wrong_clock_delays_a_poll_by_at_most_five_minutes() {
    let world = TestWorld::new([answer(202, &[STATUS], ""), status("InProgress")]);
    let client = world.client();
    let mut record = serde_json::to_value(delete(&client).await).unwrap();
    record["next"] = "2027-11-15T05:00:00Z".into();
    let mut operation: Operation = serde_json::from_value(record).unwrap();
    let progress = client.poll(&mut operation).await.unwrap();
    assert!(matches!(progress, OperationProgress::Running { .. }));
    assert_eq!(world.times(), [0, 300]);
}

#[tokio::test(start_paused = true)]
async fn unknown_abort_is_resolved_by_the_cluster_state() {
    let missing = || answer(404, &[], NOT_FOUND);
    let state = |word: &str| {
        answer(200, &[], &format!(r#"{{"properties":{{"provisioningState":"{word}"}}}}"#))
    };
    for (word, expected) in [
        ("Canceled", "Succeeded"),
        ("Failed", "Succeeded"),
        ("Succeeded", "Succeeded"),
        // Another operation is running, so the abort has ended or never started.
        ("Upgrading", "Lost"),
    ] {
        let world = TestWorld::new([
            answer(202, &[STATUS], ""),
            missing(),
            missing(),
            missing(),
            state("Canceling"),
            state(word),
        ]);
        let client = world.client();
        let Started::Running(mut operation) = client.abort_cluster(&cluster()).await.unwrap()
        else {
            panic!("over")
        };
        let outcome = match follow(&client, &mut operation).await {
            OperationOutcome::Succeeded(None) => "Succeeded",
            OperationOutcome::Lost { state: Some(state) } if state == word => "Lost",
            other => panic!("{other:?}"),
        };
        assert_eq!((outcome, world.remaining_replies()), (expected, 0), "{word}");
    }
}

#[tokio::test(start_paused = true)]
async fn record_is_followed_by_another_process_after_a_drop() {
    for cut in [0, 5, 29, 31, 59, 61] {
        let world = TestWorld::new([
            answer(202, &[STATUS], ""),
            status("InProgress"),
            status("InProgress"),
            status("Succeeded"),
        ]);
        let client = world.client();
        let mut operation = delete(&client).await;
        let deadline = Duration::from_secs(cut);
        let cut_off =
            tokio::time::timeout(deadline, client.wait(&mut operation, Timestamp::MAX, |_, _| {}))
                .await;
        assert!(cut_off.is_err());
        let record = serde_json::to_string(&operation).unwrap();
        drop(client);
        let mut resumed: Operation = serde_json::from_str(&record).unwrap();
        assert!(follow(&world.client(), &mut resumed).await.is_success(), "cut after {cut} s");
        assert_eq!((world.sent(), world.times()[3]), (4, 90), "cut after {cut} s");
    }
}

#[tokio::test(start_paused = true)]
async fn operation_can_be_followed_after_a_deadline() {
    let world = TestWorld::new([
        answer(202, &[STATUS], ""),
        status("InProgress"),
        status("InProgress"),
        status("Deleting"),
        status("Succeeded"),
    ]);
    let client = world.client();
    let mut operation = delete(&client).await;
    let until = world.now().checked_add(Duration::from_secs(100)).unwrap();
    let mut seen = Vec::new();
    let error = client
        .wait(&mut operation, until, |_, state| seen.push(state.to_owned()))
        .await
        .unwrap_err();
    let expected = format!(
        "timed out waiting for the operation (GET {}, may have been applied, correlation id {})",
        pool(),
        operation.correlation_id()
    );
    assert_eq!((error.reason(), error.to_string()), ("Deadline", expected));
    assert_eq!(seen, ["InProgress", "Deleting"], "each change of the state");
    assert!(follow(&client, &mut operation).await.is_success());
}

#[tokio::test(start_paused = true)]
async fn failed_poll_does_not_end_the_operation() {
    let world =
        TestWorld::new([answer(202, &[STATUS], ""), answer(403, &[], ""), status("Succeeded")]);
    let client = world.client();
    let mut operation = delete(&client).await;
    assert!(matches!(client.poll(&mut operation).await.unwrap_err().kind, ErrorKind::Forbidden(_)));
    assert!(follow(&client, &mut operation).await.is_success());
}

#[tokio::test(start_paused = true)]
async fn abort_ends_when_the_cluster_is_no_longer_canceling() {
    let location = (
        "Location",
        "https://management.azure.com/subscriptions/s/providers/Microsoft.ContainerService/locations/l/operations/2",
    );
    let world =
        TestWorld::new([answer(202, &[location], ""), answer(202, &[], ""), answer(204, &[], "")]);
    let client = world.client();
    let Started::Running(mut operation) = client.abort_cluster(&cluster()).await.unwrap() else {
        panic!("over")
    };
    assert_eq!(operation.resource(), cluster().as_str());
    assert!(follow(&client, &mut operation).await.is_success());
    assert_eq!(world.remaining_replies(), 0);
}

#[tokio::test(start_paused = true)]
async fn script_output_is_read_from_the_location() {
    let status_url = (
        "Azure-AsyncOperation",
        "https://management.azure.com/subscriptions/s/providers/Microsoft.Compute/locations/l/operations/3?p=x",
    );
    let location = (
        "Location",
        "https://management.azure.com/subscriptions/s/providers/Microsoft.Compute/locations/l/operations/3?monitor=true",
    );
    let world = TestWorld::new([
        answer(202, &[status_url, location, ("Retry-After", "1")], ""),
        status("Succeeded"),
        answer(
            200,
            &[],
            r#"{"value":[{"code":"ProvisioningState/succeeded","message":"Enable succeeded: \n[stdout]\nhi\n[stderr]\n"}]}"#,
        ),
    ]);
    let client = world.client();
    let vm = ResourceId::of("s", "rg", "Microsoft.Compute", "virtualMachines/vm1").unwrap();
    let script = Script { lines: &["cat /var/log/azure/aks/provision.json"] };
    let Started::Running(mut operation) = client.run_script(&vm, &script).await.unwrap() else {
        panic!("over")
    };
    let OperationOutcome::Succeeded(Some(result)) = follow(&client, &mut operation).await else {
        panic!("no result")
    };
    assert_eq!(ScriptOutput::read(&result).unwrap().stdout, "hi");
    assert!(world.seen(2).target.ends_with("monitor=true"));
    assert_eq!(
        world.seen(0).body,
        r#"{"commandId":"RunShellScript","script":["cat /var/log/azure/aks/provision.json"]}"#
    );
}
