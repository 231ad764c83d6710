//! Sequences of failures, under virtual time.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use crate::common::{CANARY, Reply, TestWorld, answer, cluster, pool};
use mooring_arm::calls::{Cluster, DeletePool, KubeconfigFormat, Vm};
use mooring_arm::{
    BucketLimit, Budget, BudgetLimits, Client, Cloud, CloudSettings, ErrorKind, OperationOutcome,
    Priority, ResourceId, Started, WriteStatus,
};
use serde_json::{Value, json};

const OK: &str = r#"{"name":"demo","properties":{"provisioningState":"Succeeded"}}"#;
const CONFLICT: &str = r#"{"code":"OperationNotAllowed","details":null,"message":"Another operation is in progress","subcode":""}"#;

fn body() -> Value {
    json!({"properties":{"count":1}})
}

#[tokio::test(start_paused = true)]
async fn put_is_retried_unchanged_after_a_lost_response() {
    let world = TestWorld::new([Reply::Lost, answer(200, &[], OK)]);
    let started = world.client().put_agent_pool(&pool(), &body(), Some("etag")).await.unwrap();
    assert!(matches!(started, Started::Done(OperationOutcome::Succeeded(Some(_)))));
    let (first, second) = (world.seen(0), world.seen(1));
    assert_eq!(
        (&first.body, &first.request_id, &first.if_match),
        (&second.body, &second.request_id, &second.if_match)
    );
    assert_eq!(first.if_match.as_deref(), Some("etag"));
    assert_eq!(first.correlation_id, second.correlation_id);
}

#[tokio::test(start_paused = true)]
async fn conflict_after_a_lost_response_has_unknown_write_status() {
    let world = TestWorld::new([Reply::Lost, answer(409, &[], CONFLICT)]);
    let error = world.client().put_agent_pool(&pool(), &body(), None).await.unwrap_err();
    assert!(matches!(error.kind, ErrorKind::Conflict(_)));
    assert_eq!((error.write_status, error.call.attempts), (WriteStatus::Unknown, 2));
    assert!(error.to_string().contains("may have been applied"), "{error}");

    let world = TestWorld::new([answer(409, &[], CONFLICT)]);
    let error = world.client().put_agent_pool(&pool(), &body(), None).await.unwrap_err();
    assert_eq!(error.write_status, WriteStatus::NotApplied);
}

#[tokio::test(start_paused = true)]
async fn creation_never_changes_an_existing_resource() {
    const EXISTS: &str = r#"{"code":"PreconditionFailed","message":"the condition is not met"}"#;
    let world = TestWorld::new([answer(412, &[], EXISTS)]);
    let error = world.client().create_agent_pool(&pool(), &body()).await.unwrap_err();
    assert_eq!(world.seen(0).if_none_match.as_deref(), Some("*"));
    assert_eq!(
        (error.reason(), error.write_status),
        ("PreconditionFailed", WriteStatus::NotApplied)
    );
    // After a lost response the existing resource may be our own.
    let world = TestWorld::new([Reply::Lost, answer(412, &[], EXISTS)]);
    let error = world.client().create_agent_pool(&pool(), &body()).await.unwrap_err();
    assert_eq!((error.write_status, error.call.attempts), (WriteStatus::Unknown, 2));
}

#[tokio::test(start_paused = true)]
async fn abort_with_unknown_status_is_not_retried() {
    for reply in [
        Reply::Lost,
        answer(500, &[], ""),
        answer(503, &[("retry-after", "1")], ""),
        Reply::Silence,
    ] {
        let world = TestWorld::new([reply]);
        let error = world.client().abort_cluster(&cluster()).await.unwrap_err();
        assert_eq!((error.write_status, world.sent()), (WriteStatus::Unknown, 1), "{error}");
    }
}

#[tokio::test(start_paused = true)]
async fn abort_that_was_not_applied_is_retried() {
    let world = TestWorld::new([
        Reply::Unsent,
        answer(429, &[("Retry-After", "17")], ""),
        answer(204, &[], ""),
    ]);
    let started = world.client().abort_cluster(&cluster()).await.unwrap();
    assert!(matches!(started, Started::Done(OperationOutcome::Succeeded(None))));
    assert!(world.times()[2] >= 17);
}

#[tokio::test(start_paused = true)]
async fn not_found_after_a_lost_delete_response_is_success() {
    let gone = r#"{"code":"NotFound","message":"Could not find the agentpool: system"}"#;
    let world = TestWorld::new([Reply::Lost, answer(404, &[], gone)]);
    let started = world.client().delete_agent_pool(&pool(), &DeletePool::default()).await.unwrap();
    assert!(matches!(started, Started::Done(OperationOutcome::Succeeded(None))));
    let world = TestWorld::new([answer(404, &[], gone)]);
    let error =
        world.client().delete_agent_pool(&pool(), &DeletePool::default()).await.unwrap_err();
    assert!(error.is_not_found(), "the first attempt did not delete it");
}

#[tokio::test(start_paused = true)]
async fn retry_waits_for_retry_after() {
    let date = "Sun, 15 Nov 2026 05:00:40 GMT";
    let world = TestWorld::new([
        answer(503, &[("Retry-After", "20")], ""),
        answer(503, &[("Retry-After", date)], ""),
        answer(200, &[], OK),
    ]);
    world.client().cluster::<Cluster>(&cluster()).await.unwrap();
    assert_eq!(world.times(), [0, 20, 40]);
}

#[tokio::test(start_paused = true)]
async fn throttling_beyond_the_deadline_fails_immediately() {
    let body = r#"{"error":{"code":"SubscriptionRequestsThrottled","message":"Number of requests exceeded"}}"#;
    let world = TestWorld::new([answer(429, &[("Retry-After", "600")], body)]);
    let client = world.client();
    let error = client.cluster::<Cluster>(&cluster()).await.unwrap_err();
    assert!(
        matches!(&error.kind, ErrorKind::Throttled { retry_after: Some(after), .. } if after.as_secs() == 600)
    );
    assert!(error.is_throttled() && world.times() == [0]);
    assert_eq!(client.metrics().throttled, 1);
    // The bucket is closed for longer: the next call ends at once without having been sent.
    let start = tokio::time::Instant::now();
    let error =
        client.within(Duration::from_secs(10)).cluster::<Cluster>(&cluster()).await.unwrap_err();
    assert!(matches!(error.kind, ErrorKind::Deadline("the request budget")), "{error}");
    assert!(error.is_throttled() && start.elapsed().is_zero(), "{:?}", start.elapsed());
    assert_eq!(
        (world.sent(), error.call.attempts, error.write_status),
        (1, 0, WriteStatus::NotApplied)
    );
}

#[tokio::test(start_paused = true)]
async fn calls_end_at_the_deadline_and_attempts_are_bounded() {
    let world = TestWorld::new([Reply::Silence]);
    let error = world
        .client()
        .within(Duration::from_secs(10))
        .cluster::<Cluster>(&cluster())
        .await
        .unwrap_err();
    assert!(matches!(error.kind, ErrorKind::Deadline("a response")), "{error}");
    assert_eq!(error.write_status, WriteStatus::NotApplied, "a read changes nothing");

    let world = TestWorld::new((0..20).map(|_| answer(500, &[], "")));
    let error = world.client().cluster::<Cluster>(&cluster()).await.unwrap_err();
    assert_eq!((error.call.attempts, world.sent()), (5, 5));

    // One request without a response does not use up the time of the others.
    let world = TestWorld::new([Reply::Silence, answer(200, &[], OK)]);
    world.client().cluster::<Cluster>(&cluster()).await.unwrap();
    assert!(world.times()[1] >= 75);
}

#[tokio::test(start_paused = true)]
async fn kubeconfig_is_requested_in_a_format() {
    const ONE: &str = r#"{"kubeconfigs":[{"name":"n","value":"eA=="}]}"#;
    for (format, word) in [
        (Some(KubeconfigFormat::Exec), Some("exec")),
        (Some(KubeconfigFormat::Azure), Some("azure")),
        (None, None),
    ] {
        let world = TestWorld::new([answer(200, &[], ONE)]);
        world.client().user_credentials(&cluster(), format).await.unwrap();
        let target = world.seen(0).target;
        let asked = target.split(['?', '&']).find_map(|pair| pair.strip_prefix("format="));
        assert_eq!(asked, word, "{target}");
    }
}

#[tokio::test(start_paused = true)]
async fn calls_that_wait_for_the_budget_are_counted() {
    let world = TestWorld::new((0..3).map(|_| answer(200, &[], OK)));
    let reads = BucketLimit::per_second_milli(1, 1_000);
    let budget = Budget::new(BudgetLimits { reads, ..BudgetLimits::default() });
    let cloud = Cloud::new(CloudSettings::default()).unwrap();
    let client = Client::new(cloud, Arc::<TestWorld>::clone(&world), budget);
    let calls: Vec<_> = (0..3)
        .map(|_| {
            let client = client.clone();
            tokio::spawn(async move { client.cluster::<Cluster>(&cluster()).await.map(drop) })
        })
        .collect();
    tokio::time::sleep(Duration::from_millis(100)).await;
    assert_eq!((world.sent(), client.metrics().waiting), (1, 2));
    for call in calls {
        call.await.unwrap().unwrap();
    }
    assert_eq!((world.sent(), client.metrics().waiting), (3, 0));
}

#[tokio::test(start_paused = true)]
async fn pauses_between_attempts_grow() {
    // The longest of many: each is any time up to 0.8, 1.6, 3.2 and 6.4 s.
    let world = TestWorld::new((0..200).map(|_| answer(500, &[], "")));
    let mut longest = [0; 4];
    for call in 0..40 {
        world.client().cluster::<Cluster>(&cluster()).await.unwrap_err();
        let times = &world.times()[5 * call..];
        for (longest, pair) in longest.iter_mut().zip(times.windows(2)) {
            *longest = (*longest).max(pair[1] - pair[0]);
        }
    }
    assert!(longest[0] <= 1 && (6..=7).contains(&longest[3]), "{longest:?}");
}

#[tokio::test(start_paused = true)]
async fn truncated_read_is_retried() {
    let world = TestWorld::new([answer(200, &[], &OK[..20]), answer(200, &[], OK)]);
    world.client().cluster::<Cluster>(&cluster()).await.unwrap();
    assert_eq!(world.sent(), 2);
}

#[tokio::test(start_paused = true)]
async fn dropped_call_sends_nothing() {
    let world = TestWorld::new([answer(503, &[("Retry-After", "5")], "")]);
    let client = world.client();
    let id = cluster();
    assert!(
        tokio::time::timeout(Duration::from_secs(1), client.cluster::<Cluster>(&id)).await.is_err()
    );
    tokio::time::sleep(Duration::from_hours(1)).await;
    assert_eq!((world.sent(), client.metrics().waiting), (1, 0));
}

#[tokio::test(start_paused = true)]
async fn rejected_token_is_renewed_once() {
    let world = TestWorld::new([answer(401, &[], ""), answer(200, &[], OK)]);
    world.client().cluster::<Cluster>(&cluster()).await.unwrap();
    assert_eq!(world.tokens_asked.load(Ordering::Relaxed), 2);
    let world = TestWorld::new([answer(401, &[], ""), answer(401, &[], "")]);
    let error = world.client().abort_cluster(&cluster()).await.unwrap_err();
    assert!(matches!(error.kind, ErrorKind::Unauthorized(_)));
    assert_eq!(error.write_status, WriteStatus::NotApplied);
}

#[tokio::test(start_paused = true)]
async fn many_callers_fetch_one_token_and_renew_it_early() {
    let world = TestWorld::new((0..21).map(|_| answer(200, &[], OK)));
    let client = world.client();
    let id = cluster();
    futures::future::join_all((0..20).map(|_| client.cluster::<Cluster>(&id))).await;
    assert_eq!(world.tokens_asked.load(Ordering::Relaxed), 1);
    tokio::time::sleep(Duration::from_secs(3600 - 299)).await;
    client.cluster::<Cluster>(&id).await.unwrap();
    assert_eq!(world.tokens_asked.load(Ordering::Relaxed), 2);
}

#[tokio::test(start_paused = true)]
async fn token_that_cannot_be_renewed_is_used_until_it_expires() {
    let world = TestWorld::new([answer(200, &[], OK), answer(200, &[], OK)]);
    world.tokens.lock().unwrap().extend([100, 0, 0]);
    let client = world.client();
    client.cluster::<Cluster>(&cluster()).await.unwrap();
    client.cluster::<Cluster>(&cluster()).await.unwrap();
    tokio::time::sleep(Duration::from_secs(200)).await;
    let error = client.cluster::<Cluster>(&cluster()).await.unwrap_err();
    assert!(matches!(error.kind, ErrorKind::Identity(_)));
    assert_eq!(world.sent(), 2);
}

#[tokio::test(start_paused = true)]
async fn list_rejects_foreign_links_and_loops() {
    let page = |link: &str| {
        answer(200, &[], &format!(r#"{{"value":[{{"name":"a"}}],"nextLink":"{link}"}}"#))
    };
    let own = "https://management.azure.com/next?skip=1";
    let world = TestWorld::new([
        page(own),
        answer(200, &[], r#"{"value":[{"name":"b"}],"nextLink":null}"#),
    ]);
    let pools = world.client().agent_pools(&cluster()).await.unwrap();
    assert_eq!(
        pools.iter().map(|pool| pool.get("name")).collect::<Vec<_>>(),
        [Some(&json!("a")), Some(&json!("b"))]
    );
    assert_eq!(world.seen(1).target, "/next?skip=1");

    let world = TestWorld::new([page("https://evil.example/next")]);
    let error = world.client().agent_pools(&cluster()).await.unwrap_err();
    assert!(
        matches!(&error.kind, ErrorKind::ForeignLink(origin) if origin == "https://evil.example"),
        "{error}"
    );

    let world = TestWorld::new([page(own), page(own)]);
    let error = world.client().agent_pools(&cluster()).await.unwrap_err();
    assert!(matches!(error.kind, ErrorKind::Malformed(_)));
}

#[tokio::test(start_paused = true)]
async fn throttling_pauses_the_limit_that_was_exceeded() {
    let by_code = r#"{"error":{"code":"SubscriptionRequestsThrottled","message":"m"}}"#;
    let by_service = r#"{"error":{"code":"TooManyRequests","message":"m"}}"#;
    let retry = ("Retry-After", "17");
    let gateway = ("x-ms-failure-cause", "gateway");
    let service = ("x-ms-failure-cause", "service");
    for (refusal, pauses_all) in [
        (answer(429, &[retry], by_code), true),
        (answer(429, &[retry, gateway], by_service), true),
        (answer(429, &[retry, service], by_service), false),
        (answer(429, &[retry], by_service), false),
    ] {
        let world =
            TestWorld::new([refusal].into_iter().chain((0..3).map(|_| answer(200, &[], OK))));
        let client = world.client();
        let vm = ResourceId::of("s", "rg", "Microsoft.Compute", "virtualMachines/vm1").unwrap();
        let (cluster, other) = (cluster(), ResourceId::cluster("s", "rg", "other").unwrap());
        let later = async {
            tokio::time::sleep(Duration::from_secs(1)).await;
            let (other, _) = tokio::join!(client.cluster::<Cluster>(&other), client.vm::<Vm>(&vm));
            other
        };
        let (first, other) = tokio::join!(client.cluster::<Cluster>(&cluster), later);
        assert!(first.is_ok() && other.is_ok());
        let seen = world.seen.lock().unwrap().clone();
        let at = |part: &str| seen.iter().rfind(|seen| seen.target.contains(part)).unwrap().at;
        assert!(at("/demo") >= 17 && at("/other") >= 17, "{seen:?}");
        assert_eq!(at("/vm1") >= 17, pauses_all, "{seen:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn reported_remaining_requests_slow_the_client_down() {
    let header = ("x-ms-ratelimit-remaining-subscription-reads", "0");
    let world = TestWorld::new([answer(200, &[header], OK), answer(200, &[], OK)]);
    let client = world.client().at(Priority::Trigger);
    client.cluster::<Cluster>(&cluster()).await.unwrap();
    client.cluster::<Cluster>(&cluster()).await.unwrap();
    let metrics = client.metrics();
    // At 25/s. A lower priority waits until its reserve is filled as well.
    assert_eq!((metrics.waits, metrics.waited), (1, Duration::from_millis(40)));
    assert_eq!(metrics.requests[&("read", "200".to_owned())], 2);
}

#[tokio::test(start_paused = true)]
async fn printed_values_contain_no_token() {
    let leak = format!(
        r#"{{"error":{{"code":"X","message":"header Authorization: Bearer eyJ{}"}}}}"#,
        "a".repeat(80)
    );
    let world = TestWorld::new([
        answer(400, &[], &leak),
        answer(200, &[], r#"{"kubeconfigs":[{"name":"clusterUser","value":"aHVudGVyMg=="}]}"#),
    ]);
    let client = world.client();
    let error = client.cluster::<Cluster>(&cluster()).await.unwrap_err();
    let credentials = client.user_credentials(&cluster(), None).await.unwrap();
    assert_eq!(credentials[0].yaml.expose(), "hunter2");
    let token = client.token(&client.cloud().aks_scope()).await.unwrap();
    let printed =
        format!("{client:?} {error:?} {error} {credentials:?} {token:?} {:?}", client.metrics());
    assert!(
        printed.starts_with(r#"Client { endpoint: "https://management.azure.com/""#),
        "{printed}"
    );
    for secret in [CANARY, "hunter2", "eyJaaa", "aHVudGVyMg"] {
        assert!(!printed.contains(secret), "{secret} in {printed}");
    }
    assert!(
        error.to_string().contains(&error.call.correlation_id)
            && error.call.correlation_id.len() == 36
    );
}

#[tokio::test(start_paused = true)]
async fn same_world_gives_the_same_requests() {
    let mut runs = Vec::new();
    for _ in 0..2 {
        let world = TestWorld::new((0..200).map(|at| match at % 3 {
            0 => answer(503, &[], ""),
            1 => Reply::Lost,
            _ => answer(200, &[], OK),
        }));
        let client = world.client();
        let id = cluster();
        futures::future::join_all((0..40).map(|_| client.cluster::<Cluster>(&id))).await;
        runs.push(world.seen.lock().unwrap().clone());
    }
    assert!(runs[0].len() > 40 && runs[0] == runs[1]);
}
