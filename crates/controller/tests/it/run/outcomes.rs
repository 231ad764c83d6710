//! The reported condition for every bootstrap outcome, in every mode, on both generations of the NodeClaim.

use mooring_simulator::azure::Cse;
use mooring_simulator::karpenter::{KarpenterOptions, ProvisionMode};

use crate::run::cluster::Cluster;

const ORAS: &str = "CSE exited with code 211 (ERR_ORAS_PULL_NETWORK_TIMEOUT): oras is missing on the image \
    (232 ERR_ORAS_BINARY_NOT_FOUND). ";
const SEE: &str = " See VM extension logs for details.";

fn with_cse(mode: ProvisionMode, cse: Cse) -> KarpenterOptions {
    let image = "202601.27.0".to_owned();
    KarpenterOptions {
        mode,
        bootstraps: [(image.clone(), cse)].into(),
        image_version: image,
        ..KarpenterOptions::default()
    }
}

async fn reported(atomic: bool, options: KarpenterOptions) -> (Cluster, (String, String, String)) {
    let cluster = Cluster::new(atomic, options);
    let replica = cluster.start("a");
    cluster.pass(5).await;
    cluster.claim("default-x1");
    cluster.pass(17 * 60).await;
    assert!(replica.health.readyz(cluster.shell.now()).is_ok());
    replica.stop().await;
    let reported = cluster.condition_of("default-x1");
    (cluster, reported)
}

#[tokio::test(start_paused = true)]
async fn joined_node_is_reported_as_success() {
    for atomic in [false, true] {
        for mode in [ProvisionMode::Vm, ProvisionMode::Machine] {
            let (cluster, (status, reason, message)) =
                reported(atomic, with_cse(mode, Cse::default())).await;
            assert_eq!(
                (&*status, &*reason, &*message),
                ("True", "CSESucceeded", "CSE succeeded."),
                "{mode:?}"
            );
            assert!(cluster.events().is_empty() && cluster.record().entries().count() == 0);
            assert_eq!(cluster.condition("default-x1", "Ready").unwrap()["status"], "True");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn joined_node_without_an_extension_gets_no_condition() {
    let (cluster, reported) =
        reported(false, with_cse(ProvisionMode::Scriptless, Cse::default())).await;
    assert_eq!(reported, Default::default(), "there is nothing to say, and no write");
    assert_eq!(cluster.condition("default-x1", "Ready").unwrap()["status"], "True");
    // Only the counts are written.
    assert!(cluster.writes().iter().all(|write| write.0 == "configmaps"), "{:?}", cluster.writes());
}

#[tokio::test(start_paused = true)]
async fn missing_oras_is_reported_with_the_exit_code_first() {
    for atomic in [false, true] {
        for mode in [ProvisionMode::Vm, ProvisionMode::Machine] {
            let (cluster, (status, reason, message)) =
                reported(atomic, with_cse(mode, Cse::oras_missing())).await;
            assert_eq!((&*status, &*reason), ("False", "CSEFailed"), "{atomic} {mode:?} {message}");
            assert!(message.starts_with(ORAS) && message.ends_with(SEE), "{message}");
            let events = cluster.events();
            let on = |kind: &str| events.iter().filter(|event| event.0 == kind).collect::<Vec<_>>();
            for (kind, name) in [("NodeClaim", "default-x1"), ("NodePool", "default")] {
                let reported = on(kind);
                assert_eq!(reported.len(), 1, "{events:?}");
                assert_eq!((reported[0].1.as_str(), reported[0].2.as_str()), (name, "CSEFailed"));
                assert!(
                    reported[0].3.starts_with("CSE exited with code 211 on node aks-"),
                    "{}",
                    reported[0].3
                );
                assert!(
                    reported[0]
                        .3
                        .contains(": ERR_ORAS_PULL_NETWORK_TIMEOUT. oras is missing on the image")
                );
            }
            let record = cluster.record();
            let entry = record.entries().next().unwrap();
            assert_eq!((entry.code, entry.effective_code), (Some(211), Some(232)));
            assert_eq!(
                (entry.pool.as_str(), entry.cause.as_str()),
                ("default", "OrasBinaryMissing")
            );
            assert_eq!(entry.image.as_deref(), Some("AKSAzureLinux/V3gen2/202601.27.0"));
        }
    }
}

#[tokio::test(start_paused = true)]
async fn script_timeout_is_reported_as_timed_out() {
    let cse = Cse { exit_code: 124, seconds: Some(100), ..Cse::default() };
    for atomic in [false, true] {
        let (_, (status, reason, message)) =
            reported(atomic, with_cse(ProvisionMode::Vm, cse.clone())).await;
        assert_eq!((&*status, &*reason), ("False", "CSETimedOut"), "{message}");
        assert!(message.starts_with("CSE exited with code 124"), "{message}");
    }
}

#[tokio::test(start_paused = true)]
async fn endless_script_is_running_until_karpenter_gives_up() {
    let cse = Cse { seconds: None, ..Cse::default() };
    let (cluster, (status, reason, message)) =
        reported(false, with_cse(ProvisionMode::Vm, cse)).await;
    assert_eq!((&*status, &*reason), ("False", "CSETimedOut"), "{message}");
    let forms = cluster.forms("default-x1");
    assert!(forms[0].contains("\"Unknown\" \"CSERunning\""), "{forms:?}");
    assert_eq!(forms.len(), 2, "{forms:?}");
}

#[tokio::test(start_paused = true)]
async fn vm_without_the_extension_is_not_reported_as_success() {
    // Between its reads at minutes 5 and 12 and its end at 15, it has neither joined nor failed.
    let cluster = Cluster::new(
        false,
        with_cse(ProvisionMode::Scriptless, Cse { seconds: None, ..Cse::default() }),
    );
    let replica = cluster.start("a");
    cluster.claim("default-x1");
    cluster.pass(14 * 60).await;
    let (status, reason, _) = cluster.condition_of("default-x1");
    assert_eq!((&*status, &*reason), ("Unknown", "NoCSEExtension"));
    assert!(cluster.events().is_empty());
    replica.stop().await;
}

#[tokio::test(start_paused = true)]
async fn unregistered_node_is_reported_with_its_cause() {
    let cse =
        Cse { registers: false, output: "kubelet: Unauthorized".to_owned(), ..Cse::default() };
    let (cluster, (status, reason, message)) =
        reported(false, with_cse(ProvisionMode::Vm, cse)).await;
    assert_eq!((&*status, &*reason), ("False", "NodeNotRegistered"), "{message}");
    assert!(message.contains("CSE succeeded; the VM is running"), "{message}");
    assert!(message.contains("after 5m. Read the kubelet log"), "{message}");
    let events = cluster.events();
    let event = events.iter().find(|event| event.0 == "NodeClaim").unwrap();
    assert_eq!(event.2, "NodeNotRegistered");
    assert!(event.3.contains("kubelet: Unauthorized"), "{}", event.3);
    let record = cluster.record();
    let causes: Vec<&str> = record.entries().map(|entry| &*entry.cause).collect();
    assert_eq!(causes, ["NoCSR"]);
    let forms = cluster.forms("default-x1");
    assert!(forms[1].contains("\"True\" \"CSESucceeded\""), "{forms:?}");
}

#[tokio::test(start_paused = true)]
async fn failing_image_is_reported_on_class_and_pool() {
    let cluster = Cluster::new(false, with_cse(ProvisionMode::Vm, Cse::default()));
    let replica = cluster.start("a");
    for number in 0..8 {
        cluster.claim(&format!("default-good{number}"));
    }
    cluster.pass(400).await;
    cluster.shell.with(|world, now| {
        let mut bad = with_cse(ProvisionMode::Vm, Cse::oras_missing());
        bad.image_version = "202602.10.0".to_owned();
        bad.bootstraps = [("202602.10.0".to_owned(), Cse::oras_missing())].into();
        world.start_karpenter(bad, now);
    });
    for number in 0..6 {
        cluster.claim(&format!("default-bad{number}"));
    }
    cluster.pass(400).await;
    let events = cluster.events();
    for (kind, name) in [("AKSNodeClass", "default"), ("NodePool", "default")] {
        let reported: Vec<_> = events
            .iter()
            .filter(|event| event.0 == kind && event.2 == "ImageFailsBootstrap")
            .collect();
        assert_eq!(reported.len(), 1, "{events:?}");
        assert_eq!(reported[0].1, name);
        let note = &reported[0].3;
        assert!(note.starts_with("Image AKSAzureLinux/V3gen2/202602.10.0: "), "{note}");
        assert!(note.contains(" failed with OrasBinaryMissing. "), "{note}");
        // Whether this cluster can hold its nodes is in the NodePool, which the controller does not read.
        assert!(note.ends_with(" What to do: mooring fleet"), "{note}");
        assert!(!note.contains("kubectl"), "{note}");
    }
    assert!(replica.metrics.text().contains("mooring_image_fails_bootstrap"));
    replica.stop().await;
}

#[tokio::test(start_paused = true)]
async fn joined_node_is_never_read_again() {
    let cluster = Cluster::new(false, with_cse(ProvisionMode::Vm, Cse::default()));
    let replica = cluster.start("a");
    cluster.pass(5).await;
    cluster.claim("default-x1");
    cluster.pass(300).await;
    let reads = replica.requests();
    assert!((1..=4).contains(&reads), "{reads}");
    cluster.pass(3600).await;
    assert_eq!(replica.requests(), reads);
    replica.stop().await;
}
