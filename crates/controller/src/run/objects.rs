//! Objects from watches: only the needed fields are kept.

use std::borrow::Cow;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kube::core::{ClusterResourceScope, NamespaceResourceScope};
use serde::Deserialize;

use crate::claim::object::ClaimFields;
use crate::observation::{karpenter, node};
use crate::state::Input;

#[derive(Clone, Debug, Deserialize)]
#[serde(from = "ClaimFields")]
pub(crate) struct ClaimObject {
    meta: ObjectMeta,
    object: ClaimFields,
}

impl ClaimObject {
    pub(crate) fn uid(&self) -> &str {
        self.object.uid()
    }

    pub(crate) fn into_object(self) -> ClaimFields {
        self.object
    }
}

impl From<ClaimFields> for ClaimObject {
    fn from(object: ClaimFields) -> Self {
        let (name, resource_version) = object.name_and_version();
        Self {
            meta: ObjectMeta { name: Some(name), resource_version, ..ObjectMeta::default() },
            object,
        }
    }
}

#[derive(Clone, Debug, Deserialize)]
#[serde(from = "karpenter::KarpenterEvent")]
pub(crate) struct EventObject {
    meta: ObjectMeta,
    pub(crate) event: karpenter::KarpenterEvent,
}

impl From<karpenter::KarpenterEvent> for EventObject {
    fn from(event: karpenter::KarpenterEvent) -> Self {
        let meta = ObjectMeta {
            name: event.metadata.name.clone(),
            resource_version: event.metadata.resource_version.clone(),
            ..ObjectMeta::default()
        };
        Self { meta, event }
    }
}

#[derive(Clone, Debug, Deserialize)]
#[serde(from = "node::NodeFields")]
pub(crate) struct NodeObject {
    meta: ObjectMeta,
    object: node::NodeFields,
}

impl NodeObject {
    pub(crate) fn to_deletion(&self) -> Input {
        let node::NodeMetadata { name, uid, .. } = &self.object.metadata;
        Input::NodeDeleted { name: name.clone(), uid: uid.clone() }
    }

    pub(crate) fn into_object(self) -> node::NodeFields {
        self.object
    }
}

impl From<node::NodeFields> for NodeObject {
    fn from(object: node::NodeFields) -> Self {
        let meta = ObjectMeta {
            name: Some(object.metadata.name.clone()),
            resource_version: object.metadata.resource_version.clone(),
            ..ObjectMeta::default()
        };
        Self { meta, object }
    }
}

macro_rules! resource {
    ($type:ty, $scope:ty, $group:literal, $version:literal, $kind:literal, $plural:literal) => {
        impl kube::Resource for $type {
            type DynamicType = ();
            type Scope = $scope;

            fn kind((): &()) -> Cow<'_, str> {
                $kind.into()
            }

            fn group((): &()) -> Cow<'_, str> {
                $group.into()
            }

            fn version((): &()) -> Cow<'_, str> {
                $version.into()
            }

            fn plural((): &()) -> Cow<'_, str> {
                $plural.into()
            }

            fn meta(&self) -> &ObjectMeta {
                &self.meta
            }

            fn meta_mut(&mut self) -> &mut ObjectMeta {
                &mut self.meta
            }
        }
    };
}

resource!(ClaimObject, ClusterResourceScope, "karpenter.sh", "v1", "NodeClaim", "nodeclaims");
resource!(EventObject, NamespaceResourceScope, "", "v1", "Event", "events");
resource!(NodeObject, ClusterResourceScope, "", "v1", "Node", "nodes");
