//! One look by a person, where Azure has nothing to show: the node is asked itself.

use jiff::Timestamp;
use mooring_controller::condition::Reason;
use mooring_controller::once::{Failed, From, Looker, NodeTold};
use mooring_simulator::azure::{Cse, NewVm};
use serde_json::json;

use crate::azure;
use crate::cluster::{Cluster, NAMESPACE};

/// A cluster with one VM that bootstraps by its custom data, ten minutes ago.
fn unattended(cse: Cse) -> Cluster {
    let cluster = Cluster::quiet(mooring_simulator::world::Options::default());
    cluster.shell.with(|world, now| {
        let created = now - jiff::SignedDuration::from_mins(10);
        let vm = NewVm::booting("aks-default-x1", "202601.27.0", cse, created);
        world.azure_mut().create_vm(&NewVm { extension: None, ..vm });
    });
    cluster
}

async fn why(cluster: &Cluster, run_command: bool) -> Result<NodeTold, Failed> {
    let options = cluster.shell.with(|world, _| world.azure().options().clone());
    let looker = Looker {
        api: None,
        arm: azure::client(&cluster.shell),
        scope: azure::scope(&options),
        namespace: NAMESPACE.to_owned(),
        condition_type: "CSEProvisioned".to_owned(),
        now: cluster.shell.now(),
        run_command,
    };
    looker.why("aks-default-x1").await.map(|mut told| told.remove(0))
}

fn requests(cluster: &Cluster) -> String {
    cluster.shell.with(|world, _| world.azure().trace().text())
}

#[tokio::test(start_paused = true)]
async fn a_node_is_asked_only_when_that_was_said() {
    let cluster = unattended(Cse::oras_missing());
    let told = why(&cluster, false).await.unwrap();
    assert_eq!((told.verdict.reason, told.from), (Reason::NoCseExtension, From::Azure));
    assert!(!requests(&cluster).to_lowercase().contains("runcommand"));
}

#[tokio::test(start_paused = true)]
async fn a_node_that_is_asked_tells_what_azure_does_not_show() {
    let told = why(&unattended(Cse::oras_missing()), true).await.unwrap();
    assert_eq!((told.verdict.reason, told.from), (Reason::CseFailed, From::Node));
    assert!(told.verdict.message.contains("232 ERR_ORAS_BINARY_NOT_FOUND"), "{told:?}");
    assert!(told.is_failed());

    let told = why(&unattended(Cse::default()), true).await.unwrap();
    assert_eq!((told.verdict.reason, told.from), (Reason::CseSucceeded, From::Node));
}

#[tokio::test(start_paused = true)]
async fn a_bootstrap_that_has_not_ended_has_no_report_and_is_not_called_healthy() {
    let told = why(&unattended(Cse { seconds: None, ..Cse::default() }), true).await.unwrap();
    assert_eq!(told.verdict.reason, Reason::NoCseExtension);
    assert!(told.verdict.message.contains("has not ended"), "{}", told.verdict.message);
}

#[tokio::test(start_paused = true)]
async fn a_command_that_azure_does_not_allow_is_told_as_that() {
    let cluster = unattended(Cse::oras_missing());
    let rule = json!({"when": {"service": "arm", "path": "*/runCommand", "method": "POST"}, "then": {"status": {"status": 403}}});
    cluster.shell.with(|world, now: Timestamp| {
        world.azure_mut().add_fault(serde_json::from_value(rule).unwrap(), now);
    });
    let failed = why(&cluster, true).await.unwrap_err().to_string();
    assert!(failed.contains("403") || failed.to_lowercase().contains("not allowed"), "{failed}");
}
