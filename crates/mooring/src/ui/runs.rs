//! Runs of `mooring repair`, from their journals in the cluster.

use jiff::Timestamp;
use mooring_controller::run::Api;
use mooring_kube::Client;
use mooring_repair::names::pool_of_config_map;
use mooring_repair::runtime::{JournalStatus, store};
use mooring_workflow::status::RunStatus;
use serde_json::Value;

use crate::workflows::runs::run_status;

/// Reads the last run of each journal; none if they cannot be listed.
pub(super) async fn read(client: &kube::Client, namespace: &str) -> Option<Vec<RunStatus>> {
    read_with(&Api::new(client.clone()), &Client::new(client.clone()), namespace).await
}

/// Reads the same with the clients of a cluster.
pub(crate) async fn read_with(
    api: &Api,
    client: &Client,
    namespace: &str,
) -> Option<Vec<RunStatus>> {
    let path = format!("/api/v1/namespaces/{namespace}/configmaps");
    let list: Value = serde_json::from_slice(&api.get_metadata_list(&path).await.ok()?).ok()?;
    let items = list["items"].as_array()?.iter();
    let names = items.filter_map(|item| item["metadata"]["name"].as_str());
    let mut runs = Vec::new();
    for pool in names.filter_map(pool_of_config_map) {
        let journal = store(client.clone(), namespace, pool);
        let status = JournalStatus::read(journal, Timestamp::now()).await;
        // A damaged journal is reported by `mooring repair status`.
        let run = status.ok().and_then(|status| run_status(&status).ok().flatten());
        runs.extend(run);
    }
    Some(runs)
}
