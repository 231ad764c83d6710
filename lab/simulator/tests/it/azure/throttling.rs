use mooring_simulator::azure::{AzureOptions, RateLimits};

use super::support::{CLUSTER, COMPUTE, Harness};

/// Counts accepted calls at one instant, and returns code and wait of the first rejected one.
fn burst(harness: &mut Harness, path: &str, most: usize) -> (usize, String, String) {
    for number in 0..most {
        let answer = harness.get(path);
        if answer.status == 429 {
            return (number, answer.code().to_owned(), answer.header("retry-after").to_owned());
        }
    }
    (most, String::new(), String::new())
}

#[test]
fn buckets_have_their_real_sizes() {
    let vm = format!("{COMPUTE}/virtualMachines/aks-default-good1");
    for (path, size, code) in [
        (
            "/subscriptions/00000000-0000-0000-0000-000000000001/resourceGroups",
            250,
            "SubscriptionRequestsThrottled",
        ),
        (CLUSTER, 60, "Throttled"),
        (vm.as_str(), 36, "OperationNotAllowed"),
    ] {
        let (through, refused, _) = burst(&mut Harness::new("oras-missing"), path, 1000);
        assert_eq!((through, refused.as_str()), (size, code), "{path}");
    }
}

#[test]
fn client_that_honors_retry_after_succeeds() {
    let mut harness = Harness::new("healthy");
    let (_, _, wait) = burst(&mut harness, CLUSTER, 100);
    harness.pass(wait.parse().unwrap());
    assert_eq!(harness.get(CLUSTER).status, 200);
    assert_eq!(harness.get(CLUSTER).status, 429);
    harness.pass(10);
    assert_eq!(burst(&mut harness, CLUSTER, 100).0, 10);
}

#[test]
fn busy_vm_does_not_throttle_another() {
    let mut harness = Harness::new("oras-missing");
    burst(&mut harness, &format!("{COMPUTE}/virtualMachines/aks-default-good1"), 100);
    assert_eq!(harness.get(&format!("{COMPUTE}/virtualMachines/aks-default-good2")).status, 200);
}

#[test]
fn wait_follows_from_the_rate_of_the_bucket() {
    let mut harness = Harness::new("oras-missing");
    let vm = format!("{COMPUTE}/virtualMachines/aks-default-good1");
    // A token is refilled every five seconds.
    assert_eq!(
        burst(&mut harness, &vm, 100),
        (36, "OperationNotAllowed".to_owned(), "5".to_owned())
    );
    harness.pass(2);
    let refused = harness.get(&vm);
    assert_eq!((refused.status, refused.header("retry-after")), (429, "3"));
    harness.pass(3);
    assert_eq!(burst(&mut harness, &vm, 100).0, 1);
}

#[test]
fn polls_of_an_operation_are_asked_for_every_ten_seconds() {
    let mut harness = Harness::new("healthy");
    let body = serde_json::json!({"properties": {"count": 1, "vmSize": "Standard_D4s_v5"}});
    let made = harness.put(&format!("{CLUSTER}/agentPools/extra"), &body);
    assert_eq!(made.header("retry-after"), "10");
    let followed = harness.follow(&made);
    assert_eq!((followed.text("/status"), followed.header("retry-after")), ("InProgress", "10"));
}

#[test]
fn buckets_start_as_full_as_the_limits_set_them() {
    let limits = |full| RateLimits { full, ..RateLimits::default() };
    for (full, through) in [(1.0, 60), (0.5, 30), (0.2, 12)] {
        let options = AzureOptions { limits: limits(full), ..AzureOptions::default() };
        let mut harness = Harness::with("healthy", 1, options);
        assert_eq!(burst(&mut harness, CLUSTER, 100).0, through, "{full}");
        harness.pass(600);
        assert_eq!(burst(&mut harness, CLUSTER, 100).0, 60, "they fill up as ever");
    }
}
