//! NodePools, AKSNodeClasses, and what the AKSNodeClass of this cluster can pin.

use mooring_controller::run::Api;
use mooring_nodes::{Karpenter, NodeClass, NodePool, has_versions};
use mooring_workflow::Reading;
use serde_json::Value;

use super::record::or_warning;
use crate::cluster::follow::list;

const NODE_POOLS: &str = "/apis/karpenter.sh/v1/nodepools";
const NODE_CLASSES: &str = "/apis/karpenter.azure.com/v1beta1/aksnodeclasses";
const DEFINITION: &str =
    "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/aksnodeclasses.karpenter.azure.com";

/// Reads the objects of Karpenter; with a warning for each list that could not be read.
pub(crate) async fn read_karpenter(api: &Api) -> (Karpenter, Vec<String>) {
    let (pools, classes, definition) = tokio::join!(
        list(api, NODE_POOLS, NodePool::parse),
        list(api, NODE_CLASSES, NodeClass::parse),
        api.get(DEFINITION)
    );
    let mut warnings = Vec::new();
    let definition = definition.ok().and_then(|text| serde_json::from_str::<Value>(&text).ok());
    let karpenter = Karpenter {
        node_pools: listed(or_warning("NodePools", pools, &mut warnings)),
        node_classes: listed(or_warning("AKSNodeClasses", classes, &mut warnings)),
        has_versions: definition.map(|definition| has_versions(&definition)),
    };
    (karpenter, warnings)
}

/// Returns a list; none if its type does not exist, or it was not read.
fn listed<T>(read: Reading<Vec<T>>) -> Option<Vec<T>> {
    read.found::<()>().ok().flatten()
}
