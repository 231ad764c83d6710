//! AKS clusters that were found from nodes: kept for a day in `~/.cache/mooring`, by API server and uid of `kube-system`.
//!
//! Nothing in it is secret. A file that cannot be read or written is ignored.

use std::path::{Path, PathBuf};

use data_encoding::HEXLOWER;
use jiff::{SignedDuration, Timestamp};
use mooring_arm::{Client, Error, ResourceId};
use mooring_nodes::Scope;
use mooring_workflow::published::ClusterIdentity;
use serde::{Deserialize, Serialize};

use super::config::user_directory;
use super::discovery::{FoundCluster, find_cluster};
use crate::output::failure::CommandFailure;
use crate::output::{outfile, show};

const MAX_AGE: SignedDuration = SignedDuration::from_hours(24);

#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct CachedCluster {
    found_at: Timestamp,
    subscription: String,
    node_resource_group: String,
    id: String,
    hosts: Vec<String>,
}

/// Finds the cluster of a node resource group, or returns what was found during the last day.
pub(crate) async fn find_known_cluster(
    arm: &Client,
    scope: &Scope,
    identity: &ClusterIdentity,
) -> Result<Option<FoundCluster>, Error> {
    let key = identity.server.as_deref().zip(identity.uid.as_deref());
    let path = key.and_then(|(server, uid)| path(server, uid));
    let text = path.as_ref().and_then(|path| std::fs::read_to_string(path).ok());
    if let Some(found) = text.and_then(|text| parse(&text, scope, Timestamp::now())) {
        return Ok(Some(found));
    }
    let found = find_cluster(arm, scope).await?;
    if let (Some(path), Some(found)) = (path, &found) {
        let entry = CachedCluster {
            found_at: Timestamp::now(),
            subscription: scope.subscription.clone(),
            node_resource_group: scope.node_resource_group.clone(),
            id: found.id.as_str().to_owned(),
            hosts: found.hosts.clone(),
        };
        let _ = store(&path, &entry);
    }
    Ok(found)
}

/// Returns the cluster of an entry that is not too old, and is about the same nodes.
fn parse(text: &str, scope: &Scope, now: Timestamp) -> Option<FoundCluster> {
    let entry: CachedCluster = serde_json::from_str(text).ok()?;
    let age = now.duration_since(entry.found_at);
    let is_current = age >= SignedDuration::ZERO && age < MAX_AGE;
    if !is_current || !scope.contains_group(&entry.subscription, &entry.node_resource_group) {
        return None;
    }
    Some(FoundCluster { id: ResourceId::parse(&entry.id).ok()?, hosts: entry.hosts })
}

/// Returns the file of a cluster: `$XDG_CACHE_HOME/mooring` or `~/.cache/mooring`.
fn path(server: &str, uid: &str) -> Option<PathBuf> {
    let directory = user_directory("XDG_CACHE_HOME", ".cache")?;
    let key = ring::digest::digest(&ring::digest::SHA256, format!("{server}\n{uid}").as_bytes());
    let name = HEXLOWER.encode(&key.as_ref()[..16]);
    Some(directory.join(format!("cluster-{name}.json")))
}

fn store(path: &Path, entry: &CachedCluster) -> Result<(), CommandFailure> {
    std::fs::create_dir_all(path.parent().unwrap_or(path))?;
    outfile::write(path, show::json(entry)?.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entry_is_used_for_a_day_and_the_same_nodes_only() {
        let text = r#"{"foundAt":"2026-11-17T09:00:00Z","subscription":"S1","nodeResourceGroup":"MC_a","id":"/subscriptions/s1/resourceGroups/rg/providers/Microsoft.ContainerService/managedClusters/prod","hosts":["h"]}"#;
        let found = |group: &str, now: &str| {
            let scope = Scope {
                subscription: "s1".to_owned(),
                node_resource_group: group.to_owned(),
                cluster: None,
            };
            let found = parse(text, &scope, now.parse().unwrap())?;
            Some(found.id.name().to_owned())
        };
        assert_eq!(found("mc_A", "2026-11-18T08:59:59Z").as_deref(), Some("prod"));
        assert_eq!(found("mc_A", "2026-11-18T09:00:00Z"), None, "too old");
        assert_eq!(found("mc_A", "2026-11-17T08:59:59Z"), None, "the clock was set back");
        assert_eq!(found("MC_b", "2026-11-17T09:01:00Z"), None, "other nodes");
    }

    #[test]
    fn clusters_have_separate_files() {
        let name = |server: &str, uid: &str| {
            path(server, uid).and_then(|path| path.file_name().map(ToOwned::to_owned))
        };
        assert_ne!(name("https://a", "1"), name("https://a", "2"));
        assert_ne!(name("https://a", "1"), name("https://b", "1"));
    }
}
