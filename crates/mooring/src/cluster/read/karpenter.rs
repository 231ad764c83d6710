//! NodePools, AKSNodeClasses, and what the AKSNodeClass of this cluster can pin.

use mooring_controller::run::{Api, ApiError};
use mooring_controller::verdict::advice;
use mooring_inventory::{Karpenter, NodeClass, NodePool};
use serde_json::Value;

use crate::cluster::list::list;

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
        node_pools: known("NodePools", pools, &mut warnings),
        node_classes: known("AKSNodeClasses", classes, &mut warnings),
        has_versions: definition.map(|definition| advice::has_versions(&definition)),
    };
    (karpenter, warnings)
}

/// Returns a list; none if its type does not exist, or it was not read.
fn known<T>(
    what: &str,
    read: Result<Option<Vec<T>>, ApiError>,
    warnings: &mut Vec<String>,
) -> Option<Vec<T>> {
    match read {
        Ok(listed) => listed,
        Err(error) => {
            warnings.push(format!("{what} were not read: {}", error.what));
            None
        }
    }
}
