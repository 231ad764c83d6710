//! `mooring status`, once or with `--watch`.

use std::process::ExitCode;
use std::time::Duration;

use super::status::frame;
use mooring_workflow::Reading;

use crate::answers::arguments::StatusArguments;
use crate::cluster::{AzureResults, Lists, VmRequest, connect, read_followed};
use crate::output::failure::CommandFailure;
use crate::process::build_runtime;
use crate::workflows::runs::{Watched, ensure_watchable, watch};

const CLUSTER: Watched = Watched { name: "the cluster", interval: Duration::from_secs(3) };
/// Azure is read less often than the cluster; its results are kept in between.
const AZURE_INTERVAL: Duration = Duration::from_secs(30);

/// Exits with 1 if something is wrong.
pub(crate) fn status(arguments: &StatusArguments) -> Result<ExitCode, CommandFailure> {
    if arguments.watch {
        return watch_status(arguments);
    }
    super::status::status(arguments)
}

/// Shows the state until the user ends it. Exits with 1 if something is wrong at the end.
fn watch_status(arguments: &StatusArguments) -> Result<ExitCode, CommandFailure> {
    let is_json = ensure_watchable(arguments.output)?;
    let (mut azure, mut runs) = (AzureResults::default(), (Vec::new(), Reading::NotAsked));
    let ended = build_runtime()?.block_on(async {
        // What retries cannot change is an error: an unknown context, a missing kubeconfig.
        let sources = &arguments.read.sources;
        let connection = connect::connect_cluster(&sources.cluster).await?;
        let lists = Lists::follow(&connection.client);
        let read = async || {
            let text = |failure: CommandFailure| failure.first_line();
            let read = read_followed(&connection, &lists, sources);
            let mut cluster = read.await.map_err(text)?;
            let request = VmRequest::of_cluster;
            let refreshed = azure.refresh(&mut cluster, sources, request, AZURE_INTERVAL);
            if refreshed.await.map_err(text)? {
                cluster.read_runs(sources.timeout).await;
                runs = (cluster.facts.runs.clone(), cluster.facts.inventory.reads.runs.clone());
            }
            let (runs, outcome) = runs.clone();
            cluster.facts.set_runs(runs, outcome);
            frame(arguments, &cluster.facts).map_err(text)
        };
        watch(read, CLUSTER, is_json, arguments.read.exit_zero).await
    });
    ended.map(ExitCode::from)
}
