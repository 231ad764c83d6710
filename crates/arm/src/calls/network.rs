//! Network interfaces of scale sets, and the subnets that they are in.

use serde::Deserialize;

use super::lenient::ProvisioningState;
use crate::client::Client;
use crate::error::Error;
use crate::raw::{Listed, Raw};
use crate::request::Call;
use crate::resource_id::ResourceId;

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct NetworkInterface {
    pub id: Option<ResourceId>,
    pub name: String,
    pub properties: NetworkInterfaceProperties,
}

/// What is inside `properties` of a network interface.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct NetworkInterfaceProperties {
    pub provisioning_state: Option<ProvisioningState>,
    /// Whether it is its VM's first one.
    pub primary: Option<bool>,
    /// The instance it belongs to.
    pub virtual_machine: Option<Reference>,
    /// Its addresses. None of them is a sign of a broken network entry, however that is spelt.
    pub ip_configurations: Listed<IpConfiguration>,
}

/// A reference to a resource.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub struct Reference {
    pub id: Option<ResourceId>,
}

/// An address of an interface.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct IpConfiguration {
    pub name: Option<String>,
    pub properties: IpConfigurationProperties,
}

/// What is inside `properties` of an address.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct IpConfigurationProperties {
    /// The address, perhaps with a prefix length.
    #[serde(rename = "privateIPAddress")]
    pub private_ip_address: Option<String>,
    pub primary: Option<bool>,
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub struct Subnet {
    /// Everything but its names.
    pub properties: SubnetProperties,
}

/// What is inside `properties` of a subnet.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct SubnetProperties {
    /// Its range, where it has one.
    pub address_prefix: Option<String>,
    /// Its ranges, where it has several.
    pub address_prefixes: Listed<String>,
    /// The addresses in use, one entry each.
    pub ip_configurations: Listed<Reference>,
}

impl Client {
    /// A subnet, with the addresses that are in use.
    pub async fn subnet(&self, subnet: &ResourceId) -> Result<Raw<Subnet>, Error> {
        let call = Call::get(subnet.as_str(), self.versions.network)?;
        self.send(&call).await?.parse(call.path())
    }

    /// The network interfaces of all instances of a scale set.
    pub async fn scale_set_nics(
        &self,
        scale_set: &ResourceId,
    ) -> Result<Vec<Raw<NetworkInterface>>, Error> {
        let path = format!("{scale_set}/networkInterfaces");
        self.list(Call::get(&path, self.versions.scale_set_network)?).await
    }
}
