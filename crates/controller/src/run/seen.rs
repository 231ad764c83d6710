//! Objects as watches bring them: only what is needed is ever kept of them.

use std::borrow::Cow;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kube::core::{ClusterResourceScope, NamespaceResourceScope};
use serde::Deserialize;

use crate::claim::object::Object;
use crate::observation::{karpenter, node};
use crate::state::Input;

/// A NodeClaim's members that a claim is made of.
#[derive(Clone, Debug, Deserialize)]
#[serde(from = "Object")]
pub(crate) struct SeenClaim {
    meta: ObjectMeta,
    object: Object,
}

impl SeenClaim {
    pub(crate) fn uid(&self) -> &str {
        self.object.uid()
    }

    pub(crate) fn into_object(self) -> Object {
        self.object
    }
}

impl From<Object> for SeenClaim {
    fn from(object: Object) -> Self {
        let (name, resource_version) = object.name_and_version();
        Self {
            meta: ObjectMeta { name: Some(name), resource_version, ..ObjectMeta::default() },
            object,
        }
    }
}

/// An event's members that Karpenter's word is made of.
#[derive(Clone, Debug, Deserialize)]
#[serde(from = "karpenter::Event")]
pub(crate) struct SeenEvent {
    meta: ObjectMeta,
    pub(crate) event: karpenter::Event,
}

impl From<karpenter::Event> for SeenEvent {
    fn from(event: karpenter::Event) -> Self {
        let meta = ObjectMeta {
            name: event.metadata.name.clone(),
            resource_version: event.metadata.resource_version.clone(),
            ..ObjectMeta::default()
        };
        Self { meta, event }
    }
}

/// A Node's members that its state is made of.
#[derive(Clone, Debug, Deserialize)]
#[serde(from = "node::Object")]
pub(crate) struct SeenNode {
    meta: ObjectMeta,
    object: node::Object,
}

impl SeenNode {
    pub(crate) fn gone(&self) -> Input {
        let node::Metadata { name, uid, .. } = &self.object.metadata;
        Input::NodeGone { name: name.clone(), uid: uid.clone() }
    }

    pub(crate) fn into_object(self) -> node::Object {
        self.object
    }
}

impl From<node::Object> for SeenNode {
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

resource!(SeenClaim, ClusterResourceScope, "karpenter.sh", "v1", "NodeClaim", "nodeclaims");
resource!(SeenEvent, NamespaceResourceScope, "", "v1", "Event", "events");
resource!(SeenNode, ClusterResourceScope, "", "v1", "Node", "nodes");
