//! Runs of `mooring repair`, from their journals in the cluster.

use jiff::Timestamp;
use mooring_controller::run::Api;
use mooring_k8s::Client;
use mooring_repair::names::pool_of_config_map;
use mooring_repair::runtime::{JournalStatus as RepairJournal, store};
use mooring_workflow::command::JournalStatus;
use mooring_workflow::status::RunStatus;
use mooring_workflow::{Reading, Workflow};
use serde_json::Value;

use super::read::reading;

/// Returns the status of the last run of a journal.
pub(crate) fn run_status<W: Workflow>(journal: &JournalStatus<W>) -> Option<RunStatus> {
    let status =
        |run| RunStatus::new(run, journal.place.clone(), journal.lock.as_ref(), Timestamp::now());
    journal.runs.last.as_ref().map(status)
}

/// Reads the last run of each journal. A journal that cannot be read fails the reading, and hides no other.
pub(crate) async fn read_runs(
    api: &Api,
    client: &Client,
    namespace: &str,
) -> (Vec<RunStatus>, Reading<()>) {
    let path = format!("/api/v1/namespaces/{namespace}/configmaps");
    let list = match reading(api.get_metadata_list(&path).await.map(Some)) {
        Reading::Known(list) => serde_json::from_slice::<Value>(&list).unwrap_or_default(),
        unread => return (Vec::new(), unread.outcome()),
    };
    let Some(items) = list["items"].as_array() else {
        return (Vec::new(), Reading::Failed("the list is not valid".to_owned()));
    };
    let names = items.iter().filter_map(|item| item["metadata"]["name"].as_str());
    let (mut runs, mut outcome) = (Vec::new(), Reading::Known(()));
    for pool in names.filter_map(pool_of_config_map) {
        let journal = store(client.clone(), namespace, pool);
        let status: Result<RepairJournal, _> = RepairJournal::read(journal).await;
        match status {
            Ok(status) => runs.extend(run_status(&status)),
            // `mooring repair status` reports it.
            Err(why) => outcome = Reading::Failed(format!("the journal of pool {pool}: {why}")),
        }
    }
    (runs, outcome)
}
