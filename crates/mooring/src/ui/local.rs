//! Snapshots from the user's own reads, while a page is open.

use std::sync::Arc;
use std::time::Duration;

use mooring_inventory::Facts;
use mooring_kube::kubeconfig::Connection;
use mooring_page::{Live, Mode, Snapshot};
use mooring_workflow::published::Source;
use mooring_workflow::status::RunStatus;
use tokio::time::Instant;

use super::runs;
use crate::cli::cluster_args::{AzureMode, SourceArguments};
use crate::cluster::{Lists, Reports, Request, read_connected};
use crate::output::failure::Failure;

/// Pause between reads; longer if a read takes long, since large lists cost the API server much.
const PAUSE: Duration = Duration::from_secs(1);
/// Pause between reads of Azure, which has small limits.
const AZURE_PAUSE: Duration = Duration::from_secs(20);
/// Pause between reads of journals, while no run is in progress.
const RUNS_PAUSE: Duration = Duration::from_secs(10);

struct Reader {
    connection: Connection,
    lists: Lists,
    arguments: SourceArguments,
    /// Mode of the flag; between reads of Azure, `arguments` has `never`.
    azure: AzureMode,
    azure_at: Option<Instant>,
    azure_source: Option<Source>,
    reports: Reports,
    runs: Option<Vec<RunStatus>>,
    runs_at: Option<Instant>,
}

/// Publishes snapshots while a page is open. Never ends.
pub(super) async fn follow(live: Arc<Live>, connection: Connection, arguments: SourceArguments) {
    let mut reader = Reader {
        lists: Lists::follow(&connection.client),
        connection,
        azure: arguments.azure,
        arguments,
        azure_at: None,
        azure_source: None,
        reports: Reports::new(),
        runs: None,
        runs_at: None,
    };
    loop {
        let started = Instant::now();
        match reader.read().await {
            Ok(snapshot) => live.publish(snapshot),
            Err(error) => live.fail(error.text().to_owned()),
        }
        tokio::time::sleep(PAUSE.max(started.elapsed() * 2)).await;
        live.wanted().await;
    }
}

impl Reader {
    async fn read(&mut self) -> Result<Snapshot, Failure> {
        let is_due = self.azure_at.is_none_or(|at| at.elapsed() >= AZURE_PAUSE);
        self.arguments.azure = if is_due { self.azure } else { AzureMode::Never };
        let limit = self.arguments.timeout;
        let read = async {
            let read = read_connected(&self.connection, &self.lists, &self.arguments);
            let mut read = Box::pin(read).await?;
            let request = Request::unknown(&read.facts.inventory.nodes, read.facts.now);
            let reports = read.ask_azure(&self.arguments, &request).await?;
            Ok::<_, Failure>((read.facts, reports))
        };
        let read = tokio::time::timeout(limit, read);
        let (mut facts, reports) = read.await.map_err(|_| {
            Failure::io(format!("the Kubernetes API did not respond within {}s", limit.as_secs()))
        })??;
        if is_due {
            self.azure_at = Some(Instant::now());
            self.azure_source = facts.sources.last().cloned();
            self.reports = reports;
        } else {
            self.restore(&mut facts);
        }
        self.read_runs(&facts).await;
        let runs = self.runs.clone();
        Ok(Snapshot { facts, runs, mode: Mode::Local, details: None })
    }

    /// Adds the results of the last read of Azure.
    fn restore(&self, facts: &mut Facts) {
        for (uid, report) in &self.reports {
            facts.inventory.add_report(uid, report);
        }
        if let (Some(last), Some(source)) = (facts.sources.last_mut(), &self.azure_source) {
            *last = source.clone();
        }
    }

    async fn read_runs(&mut self, facts: &Facts) {
        let is_running = self.runs.iter().flatten().any(|run| run.step.is_some());
        if !is_running && self.runs_at.is_some_and(|at| at.elapsed() < RUNS_PAUSE) {
            return;
        }
        self.runs_at = Some(Instant::now());
        self.runs = runs::read(&self.connection.client, &facts.controller.namespace).await;
    }
}
