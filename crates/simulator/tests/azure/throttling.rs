use mooring_simulator::azure::{Limits, Options};

use crate::support::{CLUSTER, COMPUTE, Lab};

/// Counts accepted calls at one instant, and returns code and wait of the first rejected one.
fn burst(lab: &mut Lab, path: &str, most: usize) -> (usize, String, String) {
    for number in 0..most {
        let answer = lab.get(path);
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
        let (through, refused, _) = burst(&mut Lab::new("oras-missing"), path, 1000);
        assert_eq!((through, refused.as_str()), (size, code), "{path}");
    }
}

#[test]
fn who_waits_as_told_gets_through() {
    let mut lab = Lab::new("healthy");
    let (_, _, wait) = burst(&mut lab, CLUSTER, 100);
    lab.pass(wait.parse().unwrap());
    assert_eq!(lab.get(CLUSTER).status, 200);
    assert_eq!(lab.get(CLUSTER).status, 429);
    lab.pass(10);
    assert_eq!(burst(&mut lab, CLUSTER, 100).0, 10);
}

#[test]
fn one_busy_machine_does_not_throttle_another() {
    let mut lab = Lab::new("oras-missing");
    burst(&mut lab, &format!("{COMPUTE}/virtualMachines/aks-default-good1"), 100);
    assert_eq!(lab.get(&format!("{COMPUTE}/virtualMachines/aks-default-good2")).status, 200);
}

#[test]
fn wait_follows_from_the_rate_of_the_bucket() {
    let mut lab = Lab::new("oras-missing");
    let vm = format!("{COMPUTE}/virtualMachines/aks-default-good1");
    // A token is refilled every five seconds.
    assert_eq!(burst(&mut lab, &vm, 100), (36, "OperationNotAllowed".to_owned(), "5".to_owned()));
    lab.pass(2);
    let refused = lab.get(&vm);
    assert_eq!((refused.status, refused.header("retry-after")), (429, "3"));
    lab.pass(3);
    assert_eq!(burst(&mut lab, &vm, 100).0, 1);
}

#[test]
fn polls_of_an_operation_are_asked_for_every_ten_seconds() {
    let mut lab = Lab::new("healthy");
    let body = serde_json::json!({"properties": {"count": 1, "vmSize": "Standard_D4s_v5"}});
    let made = lab.put(&format!("{CLUSTER}/agentPools/extra"), &body);
    assert_eq!(made.header("retry-after"), "10");
    let followed = lab.follow(&made);
    assert_eq!((followed.text("/status"), followed.header("retry-after")), ("InProgress", "10"));
}

#[test]
fn buckets_start_as_full_as_the_limits_set_them() {
    let limits = |full| Limits { full, ..Limits::default() };
    for (full, through) in [(1.0, 60), (0.5, 30), (0.2, 12)] {
        let options = Options { limits: limits(full), ..Options::default() };
        let mut lab = Lab::with("healthy", 1, options);
        assert_eq!(burst(&mut lab, CLUSTER, 100).0, through, "{full}");
        lab.pass(600);
        assert_eq!(burst(&mut lab, CLUSTER, 100).0, 60, "they fill up as ever");
    }
}
