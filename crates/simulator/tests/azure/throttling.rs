//! Token buckets.

use crate::support::{CLUSTER, COMPUTE, Lab};

/// How many calls go through at one instant, and the first refusal's code and wait.
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
