//! Events forged by a user with `edit` in `default`, in Karpenter's name, against the whole controller.

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
