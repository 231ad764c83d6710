//! What is told of every way in which a bootstrap can go, in every mode, on both generations of the NodeClaim.

use mooring_simulator::azure::Cse;
use mooring_simulator::karpenter::{Mode, Options};

use crate::run::cluster::Cluster;

const ORAS: &str = "CSE exited with code 211 (ERR_ORAS_PULL_NETWORK_TIMEOUT): oras is missing on the image \
    (232 ERR_ORAS_BINARY_NOT_FOUND). ";
const SEE: &str = " See VM extension logs for details.";

fn going(mode: Mode, cse: Cse) -> Options {
    let image = "202601.27.0".to_owned();
    Options {
        mode,
        bootstraps: [(image.clone(), cse)].into(),
        image_version: image,
        ..Options::default()
    }
}

async fn told(atomic: bool, options: Options) -> (Cluster, (String, String, String)) {
    let cluster = Cluster::new(atomic, options);
    let replica = cluster.start("a");
    cluster.pass(5).await;
    cluster.claim("default-x1");
    cluster.pass(17 * 60).await;
    assert!(replica.health.readyz(cluster.shell.now()).is_ok());
    replica.stop().await;
    let told = cluster.told("default-x1");
    (cluster, told)
}

#[tokio::test(start_paused = true)]
async fn a_node_that_came_up_is_told_as_such() {
    for atomic in [false, true] {
        for mode in [Mode::Vm, Mode::Machine] {
            let (cluster, (status, reason, message)) =
                told(atomic, going(mode, Cse::default())).await;
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
async fn a_node_without_an_extension_that_came_up_is_left_alone() {
    let (cluster, told) = told(false, going(Mode::Scriptless, Cse::default())).await;
    assert_eq!(told, Default::default(), "there is nothing to say, and no write");
    assert_eq!(cluster.condition("default-x1", "Ready").unwrap()["status"], "True");
    assert!(cluster.writes().is_empty(), "{:?}", cluster.writes());
}

#[tokio::test(start_paused = true)]
async fn a_missing_oras_is_told_with_the_reported_code_in_front_and_survives_the_claim() {
    for atomic in [false, true] {
        for mode in [Mode::Vm, Mode::Machine] {
            let (cluster, (status, reason, message)) =
                told(atomic, going(mode, Cse::oras_missing())).await;
            assert_eq!((&*status, &*reason), ("False", "CSEFailed"), "{atomic} {mode:?} {message}");
            assert!(message.starts_with(ORAS) && message.ends_with(SEE), "{message}");
            let events = cluster.events();
            let on = |kind: &str| events.iter().filter(|event| event.0 == kind).collect::<Vec<_>>();
            for (kind, name) in [("NodeClaim", "default-x1"), ("NodePool", "default")] {
                let told = on(kind);
                assert_eq!(told.len(), 1, "{events:?}");
                assert_eq!((told[0].1.as_str(), told[0].2.as_str()), (name, "CSEFailed"));
                assert!(
                    told[0].3.starts_with("CSE exited with code 211 on node aks-"),
                    "{}",
                    told[0].3
                );
                assert!(
                    told[0]
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
async fn a_script_that_ran_out_of_time_is_told_as_timed_out() {
    let cse = Cse { exit_code: 124, seconds: Some(100), ..Cse::default() };
    for atomic in [false, true] {
        let (_, (status, reason, message)) = told(atomic, going(Mode::Vm, cse.clone())).await;
        assert_eq!((&*status, &*reason), ("False", "CSETimedOut"), "{message}");
        assert!(message.starts_with("CSE exited with code 124"), "{message}");
    }
}

#[tokio::test(start_paused = true)]
async fn one_that_never_ends_is_running_until_karpenter_gives_it_up() {
    let cse = Cse { seconds: None, ..Cse::default() };
    let (cluster, (status, reason, message)) = told(false, going(Mode::Vm, cse)).await;
    assert_eq!((&*status, &*reason), ("False", "CSETimedOut"), "{message}");
    let forms = cluster.forms("default-x1");
    assert!(forms[0].contains("\"Unknown\" \"CSERunning\""), "{forms:?}");
    assert_eq!(forms.len(), 2, "{forms:?}");
}

#[tokio::test(start_paused = true)]
async fn a_vm_without_the_extension_is_told_as_such_and_not_as_healthy() {
    // Between its looks at minute 5 and 12 and its end at 15, it is neither up nor given up.
    let cluster =
        Cluster::new(false, going(Mode::Scriptless, Cse { seconds: None, ..Cse::default() }));
    let replica = cluster.start("a");
    cluster.claim("default-x1");
    cluster.pass(14 * 60).await;
    let (status, reason, _) = cluster.told("default-x1");
    assert_eq!((&*status, &*reason), ("Unknown", "NoCSEExtension"));
    assert!(cluster.events().is_empty());
    replica.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_node_that_does_not_register_is_reported_with_its_cause() {
    let cse =
        Cse { registers: false, output: "kubelet: Unauthorized".to_owned(), ..Cse::default() };
    let (cluster, (status, reason, message)) = told(false, going(Mode::Vm, cse)).await;
    assert_eq!((&*status, &*reason), ("False", "NodeNotRegistered"), "{message}");
    assert!(message.contains("CSE succeeded; the VM is running"), "{message}");
    assert!(message.contains("after 5 minutes. Read kubelet's log"), "{message}");
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
async fn an_image_that_fails_alone_is_told_on_its_class_and_its_pool() {
    let cluster = Cluster::new(false, going(Mode::Vm, Cse::default()));
    let replica = cluster.start("a");
    for number in 0..8 {
        cluster.claim(&format!("default-good{number}"));
    }
    cluster.pass(400).await;
    cluster.shell.with(|world, now| {
        let mut bad = going(Mode::Vm, Cse::oras_missing());
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
        let told: Vec<_> = events
            .iter()
            .filter(|event| event.0 == kind && event.2 == "ImageFailsBootstrap")
            .collect();
        assert_eq!(told.len(), 1, "{events:?}");
        assert_eq!(told[0].1, name);
        assert!(told[0].3.starts_with("Image AKSAzureLinux/V3gen2/202602.10.0: "), "{}", told[0].3);
        assert!(told[0].3.contains(" failed with OrasBinaryMissing. "), "{}", told[0].3);
    }
    assert!(replica.metrics.text().contains("mooring_image_fails_bootstrap"));
    replica.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_node_that_is_up_is_never_read_again() {
    let cluster = Cluster::new(false, going(Mode::Vm, Cse::default()));
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
