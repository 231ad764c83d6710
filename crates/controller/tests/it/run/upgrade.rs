//! Lease and record of version 0.1.0 in kube-system: its Lease is respected, its record is taken over once.

use mooring_controller::record::{FailureRecord, RecordDocument};
use mooring_simulator::karpenter::KarpenterOptions;
use mooring_simulator::kubernetes::Key;
use serde_json::{Value, json};

use crate::run::cluster::Cluster;
use crate::run::modes::Provisioning;

const OLD: &str = "kube-system";

fn put_old(cluster: &Cluster, object: Value) {
    cluster.shell.with(|world, now| world.kubernetes_mut().create(object, now).unwrap());
}

fn old_record() -> RecordDocument {
    let entry = |number: u8, source: &str| -> FailureRecord {
        serde_json::from_value(json!({
            "id": format!("{number}"), "at": "2026-11-15T04:00:00Z", "uid": format!("u{number}"),
            "nodeClaim": format!("default-old{number}"), "pool": "default", "node": "aks-old", "reason": "CSEFailed",
            "message": "m", "note": "n", "key": "k", "cause": "OrasBinaryMissing", "image": "202601.27.0", "source": source,
        }))
        .unwrap()
    };
    let mut document = RecordDocument::default();
    document.merge(&[entry(1, "instance-view"), entry(2, "karpenter-event")], 50);
    document
}

#[tokio::test(start_paused = true)]
async fn old_record_is_taken_over_once_and_not_written() {
    for how in Provisioning::ALL {
        let cluster = Cluster::new(false, how.failing());
        put_old(&cluster, old_record().config_map(OLD, None));
        let version = || {
            cluster.shell.with(|world, _| {
                let key = Key::new(Some(OLD), "mooring-failures");
                world.kubernetes().get("configmaps", &key).unwrap()["metadata"].clone()
            })
        };
        let before = version();
        let replica = cluster.start("a");
        cluster.pass(10).await;
        let taken = cluster.record();
        assert_eq!(taken.taken_from.as_deref(), Some(OLD));
        let entries: Vec<_> = taken.entries().map(|e| (&*e.node_claim, e.unconfirmed)).collect();
        assert_eq!(entries, [("default-old1", false), ("default-old2", true)]);
        replica.stop().await;
        // Another term, and a failure: the record is not taken over again.
        let replica = cluster.start("b");
        cluster.pass(5).await;
        cluster.provision(how, "default-x1").await;
        cluster.pass(how.timeout_seconds()).await;
        assert_eq!(cluster.record().entries().count(), 3, "{how:?}");
        assert_eq!(cluster.record().taken_from.as_deref(), Some(OLD));
        assert_eq!(version(), before);
        replica.stop().await;
    }
}

#[tokio::test(start_paused = true)]
async fn old_leader_is_respected_until_its_lease_expires() {
    let cluster = Cluster::new(false, KarpenterOptions::default());
    let lease = |renewed: String| {
        json!({
            "apiVersion": "coordination.k8s.io/v1", "kind": "Lease",
            "metadata": {"name": "mooring", "namespace": OLD},
            "spec": {"holderIdentity": "old-1", "leaseDurationSeconds": 15, "renewTime": renewed, "leaseTransitions": 0},
        })
    };
    put_old(&cluster, lease(format!("{:.6}", cluster.shell.now())));
    let replica = cluster.start("a");
    for _ in 0..30 {
        cluster.pass(2).await;
        assert_eq!(cluster.holder(), "", "an earlier version still leads");
        cluster.shell.with(|world, now| {
            let key = Key::new(Some(OLD), "mooring");
            let renewed = json!({"spec": {"renewTime": format!("{now:.6}")}});
            world
                .kubernetes_mut()
                .change("leases.coordination.k8s.io", &key, &renewed, now)
                .unwrap();
        });
    }
    cluster.pass(12).await;
    assert_eq!(cluster.holder(), "");
    cluster.pass(8).await;
    assert_eq!(cluster.holder(), "a");
    replica.stop().await;
}
