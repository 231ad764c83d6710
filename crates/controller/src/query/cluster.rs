//! Cluster state around a failure: options for pinning an image, and Nodes that block Karpenter. Both are
//! omitted without permission to read them.

use mooring_kube::request::query_value;
use serde::Deserialize;

use super::why::{NodeQuery, QueryError};
use crate::observation::node::{self, Node};
use crate::record::counts;
use crate::verdict::advice;

const DEFINITION: &str =
    "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/aksnodeclasses.karpenter.azure.com";

impl NodeQuery {
    /// Returns true if an AKSNodeClass of this cluster can pin an image version. None if the CRD cannot be read.
    pub async fn has_versions(&self) -> Option<bool> {
        let definition = self.get(DEFINITION).await.ok()??;
        definition.is_object().then(|| advice::has_versions(&definition))
    }

    /// Returns the counts of joined and failed nodes. None if no controller has created them.
    pub async fn counts(&self) -> Result<Option<counts::CountsDocument>, QueryError> {
        let object = self.get(&counts::path(&self.namespace)).await?;
        Ok(object.as_ref().map(counts::CountsDocument::from_config_map).transpose()?)
    }

    /// Returns Nodes of NodePools without a providerID for too long; none if Nodes cannot be read.
    pub async fn nodes_without_provider_id(&self) -> Vec<Node> {
        #[derive(Deserialize)]
        struct List {
            items: Vec<node::NodeFields>,
        }
        let path = format!("/api/v1/nodes?labelSelector={}", query_value(node::SELECTOR));
        let Ok(Some(list)) = self.get(&path).await else { return Vec::new() };
        let Ok(list) = serde_json::from_value::<List>(list) else { return Vec::new() };
        let nodes = list.items.into_iter().filter_map(Node::of);
        nodes.filter(|node| node.is_lost(self.now)).collect()
    }
}
