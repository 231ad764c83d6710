//! Snapshots from the user's own reads, while a page is open.

use std::sync::Arc;
use std::time::Duration;

use mooring_k8s::kubeconfig::Connection;
use mooring_nodes::DocsUrl;
use mooring_page::{Live, PageMode, Snapshot};
use mooring_workflow::Reading;
use mooring_workflow::status::RunStatus;
use tokio::time::Instant;

use crate::arguments::SourceArguments;
use crate::cluster::{AzureResults, ConnectedCluster, Lists, VmRequest, read_connected};
use crate::output::failure::CommandFailure;

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
    azure: AzureResults,
    runs: (Vec<RunStatus>, Reading<()>),
    runs_at: Option<Instant>,
    docs: DocsUrl,
}

/// Publishes snapshots while a page is open. Never ends.
pub(super) async fn follow(
    live: Arc<Live>,
    connection: Connection,
    arguments: SourceArguments,
    docs: DocsUrl,
) {
    let lists = Lists::follow(&connection.client);
    let mut reader = Reader { docs, ..Reader::new(connection, lists, arguments) };
    loop {
        let started = Instant::now();
        match reader.read().await {
            Ok(snapshot) => live.publish(snapshot),
            Err(error) => live.fail(error.text()),
        }
        tokio::time::sleep(PAUSE.max(started.elapsed() * 2)).await;
        live.wanted().await;
    }
}

impl Reader {
    fn new(connection: Connection, lists: Lists, arguments: SourceArguments) -> Self {
        let azure = AzureResults::default();
        let docs = DocsUrl::default();
        let (runs, runs_at) = (Default::default(), None);
        Self { connection, lists, arguments, azure, runs, runs_at, docs }
    }

    async fn read(&mut self) -> Result<Snapshot, CommandFailure> {
        let limit = self.arguments.timeout;
        let read = async {
            let read = read_connected(&self.connection, &self.lists, &self.arguments);
            let mut cluster = Box::pin(read).await?;
            let request = VmRequest::of_cluster;
            self.azure.refresh(&mut cluster, &self.arguments, request, AZURE_PAUSE).await?;
            Ok::<_, CommandFailure>(cluster)
        };
        let read = tokio::time::timeout(limit, read);
        let mut cluster = read.await.map_err(|_| {
            CommandFailure::io(format!(
                "the Kubernetes API did not respond within {}s",
                limit.as_secs()
            ))
        })??;
        self.read_runs(&mut cluster).await;
        let docs = self.docs.clone();
        Ok(Snapshot { facts: cluster.facts, mode: PageMode::Local, details: None, docs })
    }

    async fn read_runs(&mut self, cluster: &mut ConnectedCluster) {
        let is_running = self.runs.0.iter().any(|run| run.step.is_some());
        if is_running || self.runs_at.is_none_or(|at| at.elapsed() >= RUNS_PAUSE) {
            self.runs_at = Some(Instant::now());
            cluster.read_runs(self.arguments.timeout).await;
            self.runs = (cluster.facts.runs.clone(), cluster.facts.inventory.reads.runs.clone());
        }
        let (runs, read) = self.runs.clone();
        cluster.facts.set_runs(runs, read);
    }
}

#[cfg(test)]
mod tests {
    use mooring_controller::run::Api;
    use mooring_nodes::ConditionReason;
    use mooring_nodes::JoinState;
    use mooring_workflow::published::{Source, SourceName, SourceState};

    use super::*;
    use crate::cluster::Reports;
    use crate::fixtures::{Server, cluster, facts, node, report, source_arguments};

    fn reader(server: &Server) -> Reader {
        let connection = Connection {
            client: server.client(),
            context: None,
            cluster: None,
            server: "https://demo".to_owned(),
        };
        let arguments = source_arguments(&["--namespace", "ops"]);
        Reader::new(connection, Lists::Read, arguments)
    }

    #[tokio::test]
    async fn results_of_azure_are_kept_between_its_reads() {
        let mut reader = reader(&Server::default());
        let first = reader.read().await.unwrap();
        assert_eq!(first.facts.sources.last().unwrap().state, SourceState::NotAsked);
        assert!(reader.azure.read_at.is_some());
        let read = Source { state: SourceState::Read, ..Source::new(SourceName::Azure) };
        reader.azure.source = Some(read);
        let again = reader.read().await.unwrap();
        assert_eq!(again.facts.sources.last().unwrap().state, SourceState::Read);
        let failed = report("aks-a", None, ConditionReason::CseTimedOut);
        let failure = mooring_nodes::verdict::Failure {
            code: None,
            name: None,
            effective: None,
            cause: "X".to_owned(),
            sentence: "it failed".to_owned(),
            action: String::new(),
            owner: "image",
            confidence: "high",
            evidence: None,
            source: mooring_nodes::verdict::FailureSource::InstanceView,
        };
        let verdict = mooring_nodes::Verdict { failure: Some(failure), ..failed.verdict };
        let failed = mooring_nodes::NodeReport { verdict, ..failed };
        reader.azure.reports = Reports::from([("uid-a".to_owned(), failed)]);
        let mut facts = facts([node("a", JoinState::Joining)]);
        reader.azure.restore(&mut facts);
        assert!(facts.inventory.nodes.first().unwrap().is_failed());
    }

    #[tokio::test]
    async fn journals_are_read_again_after_a_pause() {
        let server = Server::default().with(
            "/api/v1/namespaces/mooring-system/configmaps",
            200,
            r#"{"items": []}"#,
        );
        let mut reader = reader(&server);
        let connected =
            || ConnectedCluster { api: Api::new(server.client()), ..cluster(facts([])) };
        for reading in 1..3 {
            let mut cluster = connected();
            reader.read_runs(&mut cluster).await;
            assert!(cluster.facts.inventory.reads.runs.is_known());
            assert_eq!(server.requests().len(), 1, "nothing runs: {reading}");
        }
    }
}
