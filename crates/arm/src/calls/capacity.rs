//! VM quotas and sizes of a region.

use serde_json::Value;

use crate::client::Client;
use crate::error::Error;
use crate::path::resource_id::ResourceId;
use crate::raw::Raw;
use crate::request::Call;

impl Client {
    /// Returns usage and limits of a region by name (`cores`, and one per VM family).
    pub async fn vm_usages(
        &self,
        subscription: &str,
        location: &str,
    ) -> Result<Vec<Raw<Value>>, Error> {
        // Parsed as an ID, so that the name cannot add segments to the path.
        let path = format!(
            "/subscriptions/{subscription}/providers/Microsoft.Compute/locations/{location}"
        );
        let path = format!("{}/usages", ResourceId::parse(&path)?);
        self.list(Call::get(&path, self.versions.compute)?).await
    }

    /// Returns the VM sizes of a region with capabilities and restrictions.
    pub async fn vm_sizes(
        &self,
        subscription: &str,
        location: &str,
    ) -> Result<Vec<Raw<Value>>, Error> {
        let scope = ResourceId::parse(&format!("/subscriptions/{subscription}"))?;
        let path = format!("{scope}/providers/Microsoft.Compute/skus");
        let filter = format!("location eq '{}'", location.replace('\'', "''"));
        // This list has its own api-versions.
        self.list(Call::get(&path, "2021-07-01")?.query("$filter", &filter)).await
    }
}
