//! Writes that go on in Azure, followed to their end. All time is virtual.

use std::time::Duration;

use crate::common::{Reply, TestWorld, answer, cluster, pool};
use jiff::Timestamp;
use mooring_arm::calls::{DeletePool, Script, ScriptOutput};
use mooring_arm::{
    Client, Document, ErrorKind, Operation, Outcome, Progress, ResourceId, Started, World,
};

const STATUS: (&str, &str) = (
    "Azure-AsyncOperation",
    "https://management.azure.com/subscriptions/s/providers/Microsoft.ContainerService/locations/l/operations/1?t=signed",
);
const DONE: &str = r#"{"name":"system","properties":{"provisioningState":"Succeeded"}}"#;
const NOT_FOUND: &str = r#"{"error":{"code":"NotFound","message":"gone"}}"#;

fn status(word: &str) -> Reply {
    answer(200, &[], &format!(r#"{{"status":"{word}"}}"#))
}

fn body() -> Document {
    Document::parse(r#"{"properties":{"count":1}}"#).unwrap()
}

async fn put(client: &Client) -> Operation {
    match client.put_agent_pool(&pool(), &body(), None).await.unwrap() {
        Started::Running(operation) => operation,
        Started::Done(outcome) => panic!("over: {outcome:?}"),
    }
}

async fn delete(client: &Client) -> Operation {
    match client.delete_agent_pool(&pool(), &DeletePool::default()).await.unwrap() {
        Started::Running(operation) => operation,
        Started::Done(outcome) => panic!("over: {outcome:?}"),
    }
}

async fn follow(client: &Client, operation: &mut Operation) -> Outcome {
    client.wait(operation, Timestamp::MAX, |_, _| {}).await.unwrap()
}

#[tokio::test(start_paused = true)]
async fn an_operation_names_when_it_is_to_be_read_next() {
    let world =
        TestWorld::new([answer(201, &[STATUS, ("Retry-After", "10")], DONE), status("InProgress")]);
    let client = world.client();
    let mut operation = put(&client).await;
    let started = operation.started();
    assert_eq!(operation.next(), started + Duration::from_secs(10));
    tokio::time::sleep(Duration::from_secs(10)).await;
    assert!(matches!(client.poll(&mut operation).await.unwrap(), Progress::Running { .. }));
    assert!(operation.next() > started + Duration::from_secs(10));
}

#[tokio::test(start_paused = true)]
async fn a_write_is_followed_at_azures_pace_and_read_at_its_end() {
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
        Progress::Running { percent: Some(40), .. }
    ));
    let outcome = follow(&client, &mut operation).await;
    assert!(
        matches!(outcome, Outcome::Succeeded(Some(document)) if document.text().unwrap() == DONE)
    );
    assert_eq!(world.times(), [0, 10, 15, 45, 45], "10 and 5 as told, 30 where nothing was told");
    assert!(world.seen(1).target.ends_with("operations/1?t=signed"));
}

#[tokio::test(start_paused = true)]
async fn each_end_is_told_apart() {
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
            Outcome::Failed(refusal) => {
                assert!(refusal.has_code("NetworkingInternalOperationError"));
                "Failed"
            }
            Outcome::Canceled(_) => "Canceled",
            Outcome::Replaced { by, .. } => {
                assert_eq!(by.as_deref(), Some(later));
                "Replaced"
            }
            other => panic!("{other:?}"),
        };
        assert_eq!(word, expected);
    }
}

#[tokio::test(start_paused = true)]
async fn an_operation_that_azure_forgot_is_told_by_the_resource() {
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
    assert!(matches!(outcome, Outcome::Succeeded(Some(_))), "{outcome:?}");
    assert_eq!(world.left(), 0);

    // A deletion has worked if the resource is gone; if it is still there, nobody knows.
    for (resource, expected) in [(missing(), "Succeeded"), (answer(200, &[], DONE), "Lost")] {
        let world =
            TestWorld::new([answer(202, &[STATUS], ""), missing(), missing(), missing(), resource]);
        let client = world.client();
        let outcome = follow(&client, &mut delete(&client).await).await;
        let word = match outcome {
            Outcome::Succeeded(None) => "Succeeded",
            Outcome::Lost { state: Some(_) } => "Lost",
            other => panic!("{other:?}"),
        };
        assert_eq!(word, expected);
    }
}

#[tokio::test(start_paused = true)]
async fn one_missing_look_is_not_believed() {
    let world = TestWorld::new([
        answer(202, &[STATUS], ""),
        answer(404, &[], NOT_FOUND),
        status("InProgress"),
        status("Succeeded"),
    ]);
    let client = world.client();
    assert!(follow(&client, &mut delete(&client).await).await.is_success());
    assert_eq!(world.left(), 0);
}

#[tokio::test(start_paused = true)]
async fn only_missing_answers_in_a_row_are_believed() {
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
    assert_eq!(world.left(), 0);
}

#[tokio::test(start_paused = true)]
async fn written_resource_is_lost_only_when_missing_three_times_in_a_row() {
    let missing = || answer(404, &[], NOT_FOUND);
    let forgotten = || [answer(201, &[STATUS], ""), missing(), missing(), missing()];
    for (resource, expected) in [
        (vec![missing(), missing(), missing()], "Lost"),
        (vec![missing(), missing(), answer(200, &[], DONE)], "Succeeded"),
    ] {
        let world = TestWorld::new(forgotten().into_iter().chain(resource));
        let client = world.client();
        let outcome = match follow(&client, &mut put(&client).await).await {
            Outcome::Lost { state: None } => "Lost",
            Outcome::Succeeded(Some(_)) => "Succeeded",
            other => panic!("{other:?}"),
        };
        assert_eq!((outcome, world.left()), (expected, 0));
    }
}

#[tokio::test(start_paused = true)]
async fn record_of_a_wrong_clock_delays_a_poll_by_five_minutes_at_most() {
    let world = TestWorld::new([answer(202, &[STATUS], ""), status("InProgress")]);
    let client = world.client();
    let mut record = serde_json::to_value(delete(&client).await).unwrap();
    record["next"] = "2027-11-15T05:00:00Z".into();
    let mut operation: Operation = serde_json::from_value(record).unwrap();
    let progress = client.poll(&mut operation).await.unwrap();
    assert!(matches!(progress, Progress::Running { .. }));
    assert_eq!(world.times(), [0, 300]);
}

#[tokio::test(start_paused = true)]
async fn forgotten_abort_is_judged_by_the_state_of_the_cluster() {
    let missing = || answer(404, &[], NOT_FOUND);
    let state = |word: &str| {
        answer(200, &[], &format!(r#"{{"properties":{{"provisioningState":"{word}"}}}}"#))
    };
    for (word, expected) in [
        ("Canceled", "Succeeded"),
        ("Failed", "Succeeded"),
        ("Succeeded", "Succeeded"),
        // Another operation runs, so the abort is over, or never was.
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
            Outcome::Succeeded(None) => "Succeeded",
            Outcome::Lost { state: Some(state) } if state == word => "Lost",
            other => panic!("{other:?}"),
        };
        assert_eq!((outcome, world.left()), (expected, 0), "{word}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_record_is_followed_by_another_process_after_a_drop_at_any_time() {
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
async fn a_deadline_leaves_an_operation_that_can_be_followed_further() {
    let world =
        TestWorld::new([answer(202, &[STATUS], ""), status("InProgress"), status("Succeeded")]);
    let client = world.client();
    let mut operation = delete(&client).await;
    let until = world.now().checked_add(Duration::from_secs(45)).unwrap();
    let mut seen = Vec::new();
    let error = client
        .wait(&mut operation, until, |_, state| seen.push(state.to_owned()))
        .await
        .unwrap_err();
    assert!(matches!(error.kind, ErrorKind::Deadline(_)));
    assert_eq!(seen, ["InProgress"]);
    assert!(follow(&client, &mut operation).await.is_success());
}

#[tokio::test(start_paused = true)]
async fn a_failing_look_ends_nothing() {
    let world =
        TestWorld::new([answer(202, &[STATUS], ""), answer(403, &[], ""), status("Succeeded")]);
    let client = world.client();
    let mut operation = delete(&client).await;
    assert!(matches!(client.poll(&mut operation).await.unwrap_err().kind, ErrorKind::Forbidden(_)));
    assert!(follow(&client, &mut operation).await.is_success());
}

#[tokio::test(start_paused = true)]
async fn an_abort_is_over_when_the_cluster_has_stopped_canceling() {
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
    assert_eq!(world.left(), 0);
}

#[tokio::test(start_paused = true)]
async fn a_scripts_output_is_fetched_where_azure_left_it() {
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
    let Outcome::Succeeded(Some(result)) = follow(&client, &mut operation).await else {
        panic!("no result")
    };
    assert_eq!(ScriptOutput::read(&result).unwrap().stdout, "hi");
    assert!(world.seen(2).target.ends_with("monitor=true"));
    assert_eq!(
        world.seen(0).body,
        r#"{"commandId":"RunShellScript","script":["cat /var/log/azure/aks/provision.json"]}"#
    );
}
