//! `mooring why` for a VM without a status in Azure: the report is read on the node.

use std::cell::RefCell;

use jiff::{SignedDuration, Timestamp};
use mooring_controller::query::{NodeQuery, QueryError};
use mooring_nodes::verdict::ConditionReason;
use mooring_nodes::{NodeReport, ReportSource};
use mooring_simulator::azure::{Assignment, Cse, Guest, Lock, LockLevel, NewVm};
use serde_json::json;

use crate::run::cluster::Cluster;
use crate::run::registration::node_query;

thread_local! {
    static PROGRESS: RefCell<Vec<String>> = const { RefCell::new(Vec::new()) };
}

const VM: &str = "/subscriptions/00000000-0000-0000-0000-000000000001/resourceGroups/MC_rg-demo_demo_westeurope/providers/Microsoft.Compute/virtualMachines/aks-default-x1";

/// A cluster with one VM that bootstraps by its custom data, created ten minutes ago.
fn unattended(cse: Cse) -> Cluster {
    let cluster = Cluster::quiet(mooring_simulator::cluster::ClusterOptions::default());
    cluster.shell.with(|world, now| {
        let created = now - jiff::SignedDuration::from_mins(10);
        let vm = NewVm::booting("aks-default-x1", "202601.27.0", cse, created);
        world.azure_mut().create_vm(&vm);
        let options = world.azure().options();
        // Assigned temporarily, in addition to the shipped roles.
        let assignment = Assignment {
            principal: options.principal.clone(),
            scope: format!("/subscriptions/{}", options.subscription),
            actions: COMMAND_ACTIONS.map(str::to_owned).to_vec(),
            not_actions: Vec::new(),
            data_actions: Vec::new(),
        };
        world.azure_mut().assign(assignment);
    });
    cluster
}

const COMMAND_ACTIONS: [&str; 2] = [
    "Microsoft.Compute/virtualMachines/runCommand/action",
    "Microsoft.Compute/locations/operations/read",
];

async fn why(cluster: &Cluster, run_command: bool) -> Result<NodeReport, QueryError> {
    let query = NodeQuery {
        run_command,
        progress: |text| PROGRESS.with_borrow_mut(|lines| lines.push(text.to_owned())),
        ..node_query(cluster)
    };
    query.in_azure("aks-default-x1").await.map(|mut reports| reports.remove(0))
}

fn requests(cluster: &Cluster) -> String {
    cluster.shell.with(|world, _| world.azure().trace().text())
}

#[tokio::test(start_paused = true)]
async fn report_on_the_node_is_read_only_with_the_flag() {
    let cluster = unattended(Cse::oras_missing());
    let report = why(&cluster, false).await.unwrap();
    assert_eq!(
        (report.verdict.reason, report.source),
        (ConditionReason::NoCseExtension, ReportSource::Azure)
    );
    assert!(!requests(&cluster).to_lowercase().contains("runcommand"));
}

#[tokio::test(start_paused = true)]
async fn report_on_the_node_shows_the_cause() {
    let report = why(&unattended(Cse::oras_missing()), true).await.unwrap();
    assert_eq!(
        (report.verdict.reason, report.source),
        (ConditionReason::CseFailed, ReportSource::Node)
    );
    assert!(report.verdict.message.contains("232 ERR_ORAS_BINARY_NOT_FOUND"), "{report:?}");
    assert!(report.is_failed());

    let report = why(&unattended(Cse::default()), true).await.unwrap();
    assert_eq!(
        (report.verdict.reason, report.source),
        (ConditionReason::CseSucceeded, ReportSource::Node)
    );
}

#[tokio::test(start_paused = true)]
async fn unfinished_bootstrap_has_no_report() {
    let report = why(&unattended(Cse { seconds: None, ..Cse::default() }), true).await.unwrap();
    assert_eq!(report.verdict.reason, ConditionReason::NoCseExtension);
    assert!(report.verdict.message.contains("has not finished"), "{}", report.verdict.message);
}

#[tokio::test(start_paused = true)]
async fn denied_command_is_reported() {
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

/// A report that is longer than the output of a command, by its escapes.
fn long_report() -> Cse {
    let noise = "\"\\".repeat(1400);
    let oras = Cse::oras_missing();
    Cse { output: format!("{noise}\n{}", oras.output), ..oras }
}

#[tokio::test(start_paused = true)]
async fn exit_code_of_a_long_report_is_read() {
    let report = why(&unattended(long_report()), true).await.unwrap();
    assert_eq!(
        (report.verdict.reason, report.source),
        (ConditionReason::CseFailed, ReportSource::Node)
    );
    let failure = report.verdict.failure.unwrap();
    assert_eq!(failure.code, Some(211), "{failure:?}");
    assert!(PROGRESS.take().iter().any(|line| line.contains("up to 3m")));
}

#[tokio::test(start_paused = true)]
async fn command_is_not_sent_to_a_vm_without_agent_status() {
    for (guest, part) in [(Guest::Silent, "(Not Ready)"), (Guest::NoAgent, "no VM agent")] {
        let cluster = unattended(Cse { guest, ..Cse::oras_missing() });
        let failed = why(&cluster, true).await.unwrap_err().to_string();
        assert!(failed.contains(part) && failed.contains("hint: not sent"), "{failed}");
        assert_eq!(commands(&cluster), 0);
    }
    let cluster = unattended(Cse::oras_missing());
    cluster.shell.with(|world, _| world.azure_mut().silence_agent(VM));
    let failed = why(&cluster, true).await.unwrap_err().to_string();
    assert!(failed.contains("(Not Ready)"), "{failed}");
}

/// The last status of the agent is still shown, so the command is sent; its wait has a timeout.
#[tokio::test(start_paused = true)]
async fn hanging_command_times_out_after_three_minutes() {
    let cluster = unattended(Cse::oras_missing());
    cluster.shell.with(|world, _| world.azure_mut().stop_agent(VM));
    let began = cluster.shell.now();
    let failed = why(&cluster, true).await.unwrap_err().to_string();
    let took = cluster.shell.now().duration_since(began);
    assert!(failed.contains("it did not finish within 3m"), "{failed}");
    assert!(took <= SignedDuration::from_mins(4), "{took}");
    assert_eq!(commands(&cluster), 1);
}

#[tokio::test(start_paused = true)]
async fn second_command_is_reported_as_in_progress() {
    let cluster = unattended(Cse::oras_missing());
    let mut first = std::pin::pin!(why(&cluster, true));
    // The first one has sent its command and waits.
    while commands(&cluster) == 0 {
        let step = tokio::time::timeout(std::time::Duration::from_millis(10), &mut first).await;
        assert!(step.is_err(), "the first command ended");
    }
    let failed = why(&cluster, true).await.unwrap_err().to_string();
    assert!(failed.contains("another Run Command is in progress"), "{failed}");
    assert!(failed.contains("at most 90m"), "{failed}");
    assert_eq!(first.await.unwrap().source, ReportSource::Node);
}

#[tokio::test(start_paused = true)]
async fn command_blocked_by_a_read_only_lock_is_reported() {
    let cluster = unattended(Cse::oras_missing());
    cluster.shell.with(|world, _| {
        let (scope, name) = (VM.to_owned(), "keep".to_owned());
        world.azure_mut().add_lock(Lock { scope, name, level: LockLevel::ReadOnly, notes: None });
    });
    let failed = why(&cluster, true).await.unwrap_err().to_string();
    assert!(failed.contains("ScopeLocked") && failed.contains("a ReadOnly lock"), "{failed}");
}
