//! Facts of Azure: results of VMs that have no verdict in the cluster or in the record.

use std::time::Duration;

use futures::StreamExt as _;
use jiff::{SignedDuration, Timestamp};
use mooring_arm::Limits;
use mooring_controller::query::NodeQuery;
use mooring_controller::run::Api;
use mooring_controller::{Scope, Settings};
use mooring_inventory::document::{Source, SourceName, SourceState};
use mooring_inventory::{Failure as NodeFailure, Inventory, Node, State};

use super::waiting::wait;
use crate::cluster_args::{AzureMode, ReadArguments};
use crate::connect;
use crate::failure::Failure;

/// Without an answer, the command continues without Azure.
const LIMIT: Duration = Duration::from_secs(10);
/// A VM has no result in its first minute.
const MIN_AGE: SignedDuration = SignedDuration::from_secs(30);
/// More VMs are not read; the controller lists them instead.
const MAX_VMS: usize = 64;
const CONCURRENT: usize = 8;

/// Adds results of Azure for nodes that have no verdict yet.
pub(super) async fn add_results(
    inventory: &mut Inventory,
    api: &Api,
    arguments: &ReadArguments,
    scope: Option<Scope>,
    now: Timestamp,
) -> Result<(Source, Option<String>), Failure> {
    let is_old =
        |node: &&Node| node.created_at.is_none_or(|created| now.duration_since(created) >= MIN_AGE);
    let waiting: Vec<(String, String)> = inventory
        .nodes
        .iter()
        .filter(|node| node.state == State::Joining && node.launched_at.is_some())
        .filter(is_old)
        .map(|node| (node.uid.clone(), node.name().to_owned()))
        .take(MAX_VMS)
        .collect();
    let not_asked = Source::new(SourceName::Azure, SourceState::NotAsked);
    if arguments.azure == AzureMode::Never || waiting.is_empty() {
        return Ok((not_asked, None));
    }
    let started = tokio::time::Instant::now();
    let work = Box::pin(read_all(api, arguments, scope, &waiting, now));
    let done = wait("waiting for Azure", LIMIT, "continuing without it", work).await;
    let seconds = Some(started.elapsed().as_secs_f64());
    let error = match done {
        Some(Ok(results)) => {
            for (uid, failure) in results {
                inventory.add_failure(&uid, failure);
            }
            let source = Source::new(SourceName::Azure, SourceState::Read);
            return Ok((Source { at: Some(now), seconds, ..source }, None));
        }
        Some(Err(error)) => error,
        None => Failure::io(format!("Azure did not respond within {}s", LIMIT.as_secs())),
    };
    if arguments.azure == AzureMode::Always {
        return Err(error);
    }
    let failed = Source::new(SourceName::Azure, SourceState::Failed);
    let text = error.text().to_owned();
    Ok((Source { seconds, error: Some(text.clone()), ..failed }, Some(text)))
}

/// Reads VMs, some at a time. A VM that cannot be read keeps its state.
async fn read_all(
    api: &Api,
    arguments: &ReadArguments,
    scope: Option<Scope>,
    waiting: &[(String, String)],
    now: Timestamp,
) -> Result<Vec<(String, NodeFailure)>, Failure> {
    let arm = connect::azure_client(arguments.cluster.arm_endpoint.as_ref(), Limits::default())?;
    let scope = match scope {
        Some(scope) => scope,
        None => connect::read_scope(&arm, &arguments.cluster).await?,
    };
    let query = NodeQuery {
        api: Some(api.clone()),
        arm,
        scope,
        namespace: String::new(),
        condition_type: Settings::default().condition_type,
        now,
        run_command: false,
        progress: crate::show::print_note,
    };
    let reads = futures::stream::iter(waiting).map(|(uid, name)| {
        let query = &query;
        async move { (uid.clone(), query.claim_report(name).await) }
    });
    let reports: Vec<_> = reads.buffer_unordered(CONCURRENT).collect().await;
    let mut results = Vec::new();
    let mut last_error = None;
    let mut any_read = false;
    for (uid, report) in reports {
        match report {
            Ok(Some(report)) => {
                any_read = true;
                if let (true, Some(failure)) = (report.is_failed(), &report.verdict.failure) {
                    let reason = report.verdict.reason.as_str();
                    results.push((uid, NodeFailure::observed(failure, reason, &report.message())));
                }
            }
            Ok(None) => any_read = true,
            Err(error) => last_error = Some(error),
        }
    }
    match last_error {
        Some(error) if !any_read => Err(crate::why::to_failure(&error)),
        _ => Ok(results),
    }
}
