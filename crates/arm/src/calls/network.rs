//! Network interfaces of scale sets, and subnets.

use serde::Deserialize;

use crate::client::Client;
use crate::error::Error;
use crate::path::resource_id::ResourceId;
use crate::raw::{Raw, RawList, RawObject};
use crate::request::Call;

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub struct Reference {
    pub id: Option<ResourceId>,
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub struct Subnet {
    pub properties: SubnetProperties,
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct SubnetProperties {
    /// Set if the subnet has one range.
    pub address_prefix: Option<String>,
    /// Set if the subnet has several ranges.
    pub address_prefixes: RawList<String>,
    /// Addresses in use.
    pub ip_configurations: RawList<Reference>,
}

impl Client {
    pub async fn subnet(&self, subnet: &ResourceId) -> Result<Raw<Subnet>, Error> {
        self.read(Call::get(subnet.as_str(), self.versions.network)?).await
    }

    pub async fn scale_set_nics(
        &self,
        scale_set: &ResourceId,
    ) -> Result<Vec<Raw<RawObject>>, Error> {
        let path = format!("{scale_set}/networkInterfaces");
        self.list(Call::get(&path, self.versions.scale_set_network)?).await
    }
}
