//! What else the cluster shows that an operator should know: what can be done about an image, and Nodes that stop
//! Karpenter. Both are read where they may be.

use serde::Deserialize;
use serde_json::Value;

use super::why::Looker;
use crate::observation::node::{self, Node};
use crate::verdict::advice;

const DEFINITION: &str =
    "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/aksnodeclasses.karpenter.azure.com";

impl Looker {
    /// Whether an AKSNodeClass of this cluster can pin an image version. None if that cannot be read.
    pub async fn has_versions(&self) -> Option<bool> {
        let text = self.get(DEFINITION).await.ok()??;
        let definition: Value = serde_json::from_str(&text).ok()?;
        Some(advice::has_versions(&definition))
    }

    /// Nodes of NodePools that have had no providerID for too long. None where Nodes cannot be read.
    pub async fn nodes_without_provider_id(&self) -> Vec<Node> {
        #[derive(Deserialize)]
        struct List {
            items: Vec<node::Object>,
        }
        let selector = node::SELECTOR.replace('/', "%2F").replace(',', "%2C").replace('!', "%21");
        let path = format!("/api/v1/nodes?labelSelector={}", selector.replace('=', "%3D"));
        let Ok(Some(text)) = self.get(&path).await else { return Vec::new() };
        let Ok(list) = serde_json::from_str::<List>(&text) else { return Vec::new() };
        let nodes = list.items.into_iter().filter_map(Node::of);
        nodes.filter(|node| node.lacks_provider_id() && node.due() <= self.now).collect()
    }
}
