//! Resource groups.

use serde::Deserialize;

use crate::client::Client;
use crate::error::Error;
use crate::path::resource_id::ResourceId;
use crate::raw::Raw;
use crate::request::Call;

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct ResourceGroup {
    managed_by: Option<String>,
}

impl Client {
    /// Returns the resource that manages a resource group: the cluster of a node resource group.
    pub async fn managed_by(
        &self,
        subscription: &str,
        resource_group: &str,
    ) -> Result<Option<ResourceId>, Error> {
        // Parsed as an ID, so that a name cannot add segments to the path.
        let sample = ResourceId::of(subscription, resource_group, "Microsoft.Compute", "disks/x")?;
        let (path, _) = sample.as_str().split_once("/providers/").unwrap_or((sample.as_str(), ""));
        let group: Raw<ResourceGroup> =
            self.read(Call::get(path, self.versions.resources)?).await?;
        Ok(group.managed_by.as_ref().and_then(|id| ResourceId::parse(id).ok()))
    }
}
