//! Objects from watches: only the needed fields are kept.

use std::borrow::Cow;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kube::core::{ClusterResourceScope, NamespaceResourceScope};
use serde::Deserialize;

use crate::claim::object::Object;
use crate::observation::{karpenter, node};
use crate::state::Input;

#[derive(Clone, Debug, Deserialize)]
#[serde(from = "Object")]
pub(crate) struct ClaimObject {
    meta: ObjectMeta,
    object: Object,
}

impl ClaimObject {
    pub(crate) fn uid(&self) -> &str {
        self.object.uid()
    }

    pub(crate) fn into_object(self) -> Object {
        self.object
    }
}

impl From<Object> for ClaimObject {
    fn from(object: Object) -> Self {
        let (name, resource_version) = object.name_and_version();
        Self {
            meta: ObjectMeta { name: Some(name), resource_version, ..ObjectMeta::default() },
            object,
        }
    }
}

#[derive(Clone, Debug, Deserialize)]
#[serde(from = "karpenter::Event")]
pub(crate) struct EventObject {
    meta: ObjectMeta,
    pub(crate) event: karpenter::Event,
}

impl From<karpenter::Event> for EventObject {
    fn from(event: karpenter::Event) -> Self {
        let meta = ObjectMeta {
            name: event.metadata.name.clone(),
            resource_version: event.metadata.resource_version.clone(),
            ..ObjectMeta::default()
        };
        Self { meta, event }
    }
}

#[derive(Clone, Debug, Deserialize)]
#[serde(from = "node::Object")]
pub(crate) struct NodeObject {
    meta: ObjectMeta,
    object: node::Object,
}

impl NodeObject {
    pub(crate) fn to_deletion(&self) -> Input {
        let node::Metadata { name, uid, .. } = &self.object.metadata;
        Input::NodeDeleted { name: name.clone(), uid: uid.clone() }
    }

    pub(crate) fn into_object(self) -> node::Object {
        self.object
    }
}

impl From<node::Object> for NodeObject {
    fn from(object: node::Object) -> Self {
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
