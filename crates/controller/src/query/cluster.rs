//! Cluster state around a failure: counts, and Nodes that block Karpenter.

use mooring_kube::request::query_value;
use mooring_nodes::record::counts;
use mooring_nodes::unregistered::{self, UnregisteredNode};
use serde::Deserialize;

use super::why::{NodeQuery, QueryError};

impl NodeQuery {
    /// Returns the counts of joined and failed nodes. None if no controller has created them.
    pub async fn counts(&self) -> Result<Option<counts::CountsDocument>, QueryError> {
        let object = self.get(&counts::path(&self.namespace)).await?;
        Ok(object.as_ref().map(counts::CountsDocument::from_config_map).transpose()?)
    }

    /// Returns Nodes of NodePools without a providerID for too long; none if Nodes cannot be read.
    pub async fn nodes_without_provider_id(&self) -> Vec<UnregisteredNode> {
        #[derive(Deserialize)]
        struct List {
            items: Vec<unregistered::NodeFields>,
        }
        let path = format!("/api/v1/nodes?labelSelector={}", query_value(unregistered::SELECTOR));
        let Ok(Some(list)) = self.get(&path).await else { return Vec::new() };
        let Ok(list) = serde_json::from_value::<List>(list) else { return Vec::new() };
        let nodes = list.items.into_iter().filter_map(UnregisteredNode::of);
        nodes.filter(|node| node.is_lost(self.now)).collect()
    }
}
