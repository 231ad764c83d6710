//! Objects from watches: only the needed fields are kept.

use std::borrow::Cow;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kube::core::{ClusterResourceScope, NamespaceResourceScope};
use mooring_nodes::claim::object::ClaimFields;
use mooring_nodes::unregistered::NodeFields;
use serde::Deserialize;

use crate::observation::karpenter::KarpenterEvent;

/// The fields of an object, and the metadata that a watch needs.
#[derive(Clone, Debug, Deserialize)]
#[serde(from = "T", bound = "T: WatchedFields + Deserialize<'de>")]
pub(crate) struct Watched<T> {
    meta: ObjectMeta,
    pub(crate) fields: T,
}

/// The fields of one kind of objects.
pub(crate) trait WatchedFields {
    type Scope;
    const GROUP: &'static str;
    const VERSION: &'static str;
    const KIND: &'static str;
    const PLURAL: &'static str;

    fn name_and_version(&self) -> (Option<String>, Option<String>);
}

impl<T: WatchedFields> From<T> for Watched<T> {
    fn from(fields: T) -> Self {
        let (name, resource_version) = fields.name_and_version();
        Self { meta: ObjectMeta { name, resource_version, ..ObjectMeta::default() }, fields }
    }
}

impl<T: WatchedFields> kube::Resource for Watched<T> {
    type DynamicType = ();
    type Scope = T::Scope;

    fn kind((): &()) -> Cow<'_, str> {
        T::KIND.into()
    }

    fn group((): &()) -> Cow<'_, str> {
        T::GROUP.into()
    }

    fn version((): &()) -> Cow<'_, str> {
        T::VERSION.into()
    }

    fn plural((): &()) -> Cow<'_, str> {
        T::PLURAL.into()
    }

    fn meta(&self) -> &ObjectMeta {
        &self.meta
    }

    fn meta_mut(&mut self) -> &mut ObjectMeta {
        &mut self.meta
    }
}

impl WatchedFields for ClaimFields {
    type Scope = ClusterResourceScope;
    const GROUP: &'static str = "karpenter.sh";
    const VERSION: &'static str = "v1";
    const KIND: &'static str = "NodeClaim";
    const PLURAL: &'static str = "nodeclaims";

    fn name_and_version(&self) -> (Option<String>, Option<String>) {
        (Some(self.metadata.name.clone()), self.metadata.resource_version.clone())
    }
}

impl WatchedFields for KarpenterEvent {
    type Scope = NamespaceResourceScope;
    const GROUP: &'static str = "";
    const VERSION: &'static str = "v1";
    const KIND: &'static str = "Event";
    const PLURAL: &'static str = "events";

    fn name_and_version(&self) -> (Option<String>, Option<String>) {
        (self.metadata.name.clone(), self.metadata.resource_version.clone())
    }
}

impl WatchedFields for NodeFields {
    type Scope = ClusterResourceScope;
    const GROUP: &'static str = "";
    const VERSION: &'static str = "v1";
    const KIND: &'static str = "Node";
    const PLURAL: &'static str = "nodes";

    fn name_and_version(&self) -> (Option<String>, Option<String>) {
        (Some(self.metadata.name.clone()), self.metadata.resource_version.clone())
    }
}
