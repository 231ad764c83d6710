//! Cluster state around a failure: options for pinning an image, and Nodes that block Karpenter. Both are
//! omitted without permission to read them.

use serde::Deserialize;
use serde_json::Value;

use super::why::{NodeQuery, QueryError};
use crate::observation::node::{self, Node};
use crate::record::counts;
use crate::verdict::advice;

const DEFINITION: &str =
    "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/aksnodeclasses.karpenter.azure.com";

impl NodeQuery {
    /// Returns true if an AKSNodeClass of this cluster can pin an image version. None if the CRD cannot be read.
    pub async fn has_versions(&self) -> Option<bool> {
        let text = self.get(DEFINITION).await.ok()??;
        let definition: Value = serde_json::from_str(&text).ok()?;
        Some(advice::has_versions(&definition))
    }

    /// Returns the counts of joined and failed nodes. None if no controller has created them.
    pub async fn counts(&self) -> Result<Option<counts::CountsDocument>, QueryError> {
        let Some(text) = self.get(&counts::path(&self.namespace)).await? else { return Ok(None) };
        let object = serde_json::from_str(&text).unwrap_or_default();
        Ok(Some(counts::CountsDocument::from_config_map(&object)?))
    }

    /// Returns Nodes of NodePools without a providerID for too long; none if Nodes cannot be read.
    pub async fn nodes_without_provider_id(&self) -> Vec<Node> {
        #[derive(Deserialize)]
        struct List {
            items: Vec<node::NodeFields>,
        }
        let selector = node::SELECTOR.replace('/', "%2F").replace(',', "%2C").replace('!', "%21");
        let path = format!("/api/v1/nodes?labelSelector={}", selector.replace('=', "%3D"));
        let Ok(Some(text)) = self.get(&path).await else { return Vec::new() };
        let Ok(list) = serde_json::from_str::<List>(&text) else { return Vec::new() };
        let nodes = list.items.into_iter().filter_map(Node::of);
        nodes.filter(|node| node.is_lost(self.now)).collect()
    }
}
