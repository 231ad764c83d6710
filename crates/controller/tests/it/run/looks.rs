//! One look by a person, where Azure has nothing to show: the node is asked itself.

use std::cell::RefCell;

use jiff::{SignedDuration, Timestamp};
use mooring_controller::once::{Failed, From, Looker, NodeTold};
use mooring_controller::verdict::condition::Reason;
use mooring_simulator::azure::{Assignment, Cse, Guest, Lock, LockLevel, NewVm};
use serde_json::json;

use crate::run::azure;
use crate::run::cluster::{Cluster, NAMESPACE};

thread_local! {
    /// What was said to a person who waits.
    static SAID: RefCell<Vec<String>> = const { RefCell::new(Vec::new()) };
}

const VM: &str = "/subscriptions/00000000-0000-0000-0000-000000000001/resourceGroups/MC_rg-demo_demo_westeurope/providers/Microsoft.Compute/virtualMachines/aks-default-x1";

/// A cluster with one VM that bootstraps by its custom data, ten minutes ago.
fn unattended(cse: Cse) -> Cluster {
    let cluster = Cluster::quiet(mooring_simulator::cluster::Options::default());
    cluster.shell.with(|world, now| {
        let created = now - jiff::SignedDuration::from_mins(10);
        let vm = NewVm::booting("aks-default-x1", "202601.27.0", cse, created);
        world.azure_mut().create_vm(&vm);
        let options = world.azure().options();
        // Given for the time that it is needed, beside the shipped roles.
        let assignment = Assignment {
            principal: options.principal.clone(),
            scope: format!("/subscriptions/{}", options.subscription),
            actions: COMMAND_ACTIONS.map(str::to_owned).to_vec(),
            not_actions: Vec::new(),
        };
        world.azure_mut().assign(assignment);
    });
    cluster
}

const COMMAND_ACTIONS: [&str; 2] = [
    "Microsoft.Compute/virtualMachines/runCommand/action",
    "Microsoft.Compute/locations/operations/read",
];

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
        say: |text| SAID.with_borrow_mut(|said| said.push(text.to_owned())),
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

fn commands(cluster: &Cluster) -> usize {
    requests(cluster).lines().filter(|line| line.contains("/runCommand")).count()
}

/// A report that is longer than what comes back of a command, by its escapes.
fn long_report() -> Cse {
    let noise = "\"\\".repeat(1400);
    let oras = Cse::oras_missing();
    Cse { output: format!("{noise}\n{}", oras.output), ..oras }
}

#[tokio::test(start_paused = true)]
async fn exit_code_of_a_long_report_is_read() {
    let told = why(&unattended(long_report()), true).await.unwrap();
    assert_eq!((told.verdict.reason, told.from), (Reason::CseFailed, From::Node));
    let failure = told.verdict.failure.unwrap();
    assert_eq!(failure.code, Some(211), "{failure:?}");
    assert!(SAID.take().iter().any(|said| said.contains("up to 3 minutes")));
}

#[tokio::test(start_paused = true)]
async fn no_command_is_sent_to_a_vm_whose_agent_does_not_report() {
    for (guest, part) in [(Guest::Silent, "(Not Ready)"), (Guest::NoAgent, "shows no agent")] {
        let cluster = unattended(Cse { guest, ..Cse::oras_missing() });
        let failed = why(&cluster, true).await.unwrap_err().to_string();
        assert!(failed.contains(part) && failed.contains("hint: without its agent"), "{failed}");
        assert_eq!(commands(&cluster), 0);
    }
    let cluster = unattended(Cse::oras_missing());
    cluster.shell.with(|world, _| world.azure_mut().silence_agent(VM));
    let failed = why(&cluster, true).await.unwrap_err().to_string();
    assert!(failed.contains("(Not Ready)"), "{failed}");
}

/// The agent's last status is still shown, so the command is sent; its wait has an end.
#[tokio::test(start_paused = true)]
async fn command_that_hangs_is_waited_for_three_minutes() {
    let cluster = unattended(Cse::oras_missing());
    cluster.shell.with(|world, _| world.azure_mut().stop_agent(VM));
    let began = cluster.shell.now();
    let failed = why(&cluster, true).await.unwrap_err().to_string();
    let took = cluster.shell.now().duration_since(began);
    assert!(failed.contains("it did not end within 3 minutes"), "{failed}");
    assert!(took <= SignedDuration::from_mins(4), "{took}");
    assert_eq!(commands(&cluster), 1);
}

#[tokio::test(start_paused = true)]
async fn second_command_is_explained_as_one_in_progress() {
    let cluster = unattended(Cse::oras_missing());
    let mut first = std::pin::pin!(why(&cluster, true));
    // The first one has sent its command and waits.
    while commands(&cluster) == 0 {
        let step = tokio::time::timeout(std::time::Duration::from_millis(10), &mut first).await;
        assert!(step.is_err(), "the first command ended");
    }
    let failed = why(&cluster, true).await.unwrap_err().to_string();
    assert!(failed.contains("another run command is in progress"), "{failed}");
    assert!(failed.contains("90 minutes at most"), "{failed}");
    assert_eq!(first.await.unwrap().from, From::Node);
}

#[tokio::test(start_paused = true)]
async fn command_under_a_read_only_lock_is_explained() {
    let cluster = unattended(Cse::oras_missing());
    cluster.shell.with(|world, _| {
        let (scope, name) = (VM.to_owned(), "keep".to_owned());
        world.azure_mut().add_lock(Lock { scope, name, level: LockLevel::ReadOnly, notes: None });
    });
    let failed = why(&cluster, true).await.unwrap_err().to_string();
    assert!(failed.contains("ScopeLocked") && failed.contains("a ReadOnly lock"), "{failed}");
}
