//! Events forged by a user with `edit` in `default`, in Karpenter's name, against the whole controller.

use jiff::Timestamp;
use mooring_simulator::azure::Cse;
use serde_json::json;

use crate::run::cluster::{CLAIMS, Cluster};
use crate::run::modes::Provisioning;

/// Creates an event as Karpenter does, about any NodeClaim, with any VM in its text.
fn forge(cluster: &Cluster, number: usize, claim: &str, uid: &str) {
    cluster.shell.with(|world, now| {
        let event = json!({
            "apiVersion": "v1", "kind": "Event",
            "metadata": {"name": format!("forged.{number}"), "namespace": "default"},
            "involvedObject": {"apiVersion": "karpenter.sh/v1", "kind": "NodeClaim", "name": claim, "uid": uid},
            "type": "Warning", "reason": "AsyncProvisioningError",
            "message": "Failed to register: creating VM CSE for VM \"aks-default-real\": VMExtensionProvisioningError exit status=50",
            "source": {"component": "karpenter"}, "reportingComponent": "karpenter",
            "reportingInstance": "", "count": 1,
            "firstTimestamp": format!("{now:.0}"), "lastTimestamp": format!("{now:.0}"),
        });
        world.kubernetes_mut().create(event, now).unwrap();
    });
}

fn uid(cluster: &Cluster, claim: &str) -> String {
    cluster.shell.with(|world, _| {
        let mut claims = world.kubernetes().objects(CLAIMS, None);
        let object = claims.find(|object| object["metadata"]["name"] == claim).unwrap();
        object["metadata"]["uid"].as_str().unwrap().to_owned()
    })
}

async fn forge_ten_thousand(how: Provisioning) {
    let cluster = Cluster::new(false, how.with_cse(Cse::default()));
    let replica = cluster.start("a");
    cluster.pass(5).await;
    let names = |kind: &str| -> Vec<String> {
        (0..8).map(|number| format!("default-{kind}{number}")).collect()
    };
    let (up, new) = (names("up"), names("new"));
    for name in &up {
        cluster.claim(name);
    }
    cluster.pass(400).await;
    cluster.shell.with(|world, _| {
        let karpenter = world.karpenter_mut().unwrap();
        for name in &new {
            karpenter.set_cse(name, Cse { seconds: None, ..Cse::default() });
        }
        karpenter.set_cse("default-real", Cse::oras_missing());
    });
    new.iter().chain([&"default-real".to_owned()]).for_each(|name| cluster.claim(name));
    cluster.pass(100).await;
    let targets: Vec<(String, String)> = up
        .iter()
        .chain(&new)
        .map(|name| (name.clone(), uid(&cluster, name)))
        .chain([("default-real".to_owned(), "11111111-2222-4333-8444-555555555555".to_owned())])
        .collect();
    let before = replica.requests();
    for number in 0..10_000 {
        let (name, uid) = &targets[number % targets.len()];
        forge(&cluster, number, name, uid);
        if number % 167 == 166 {
            cluster.pass(1).await;
        }
    }
    let reads = replica.requests() - before;
    // 60 requested by events, and scheduled ones: three for each of nine starting nodes.
    assert!(reads <= 60 + 9 * 3, "{how:?}: {reads}");
    cluster.pass(60).await;
    let record = cluster.record();
    let entries: Vec<_> = record.entries().collect();
    let events = cluster.events();
    if how.announces() {
        assert_eq!(entries.len(), 1, "{how:?}: {entries:?}");
        assert_eq!((&*entries[0].node_claim, entries[0].code), ("default-real", Some(211)));
        let late = entries[0].at.duration_since(announced(&cluster)).as_secs();
        assert!(late <= 30, "{how:?}: reported {late} s after Karpenter's own event");
        assert_eq!(events.len(), 2, "{how:?}: {events:?}");
        assert!(events.iter().all(|event| event.2 == "CSEFailed"));
        assert!(!entries[0].unconfirmed, "{how:?}: {entries:?}");
    } else {
        assert_eq!((entries.len(), events.len()), (0, 0), "{how:?}");
    }
    for name in &up {
        assert_eq!(cluster.condition_of(name).1, how.success(), "{how:?}");
    }
    for name in &new {
        let reported = cluster.condition_of(name).1;
        let passing = if how.announces() { "CSERunning" } else { "NoCSEExtension" };
        // Without anything for Azure to show, the only read is the one requested by the event.
        assert!(
            reported == passing || (reported.is_empty() && !how.announces()),
            "{how:?}: {reported}"
        );
        assert!(cluster.forms(name).len() <= 1, "{how:?}: {:?}", cluster.forms(name));
    }
    replica.stop().await;
}

/// Returns when Karpenter announced the real failure.
fn announced(cluster: &Cluster) -> Timestamp {
    cluster.shell.with(|world, _| {
        let mut events = world.kubernetes().objects("events", Some("default"));
        let real = events.find(|event| {
            event["reason"] == "AsyncProvisioningError"
                && event["metadata"]["name"].as_str().unwrap().starts_with("default-real.")
        });
        real.unwrap()["lastTimestamp"].as_str().unwrap().parse().unwrap()
    })
}

#[tokio::test(start_paused = true)]
async fn forged_event_does_not_outlast_registration() {
    for how in Provisioning::WORKING {
        let cluster = Cluster::new(false, how.with_cse(Cse::default()));
        let replica = cluster.start("a");
        cluster.pass(5).await;
        cluster.claim("default-x1");
        cluster.pass(80).await;
        let uid = uid(&cluster, "default-x1");
        for number in 0..5 {
            forge(&cluster, number, "default-x1", &uid);
            cluster.pass(5).await;
        }
        cluster.pass(300).await;
        let forms = cluster.forms("default-x1");
        assert!(forms.iter().all(|form| !form.contains("False")), "{how:?}: {forms:?}");
        assert_eq!(cluster.condition_of("default-x1").1, how.success(), "{how:?}");
        assert!(cluster.events().is_empty() && cluster.record().entries().count() == 0);
        replica.stop().await;
    }
}

mod slow {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn forged_events_change_nothing_and_hide_no_failure() {
        for how in Provisioning::WORKING {
            forge_ten_thousand(how).await;
        }
    }
}
