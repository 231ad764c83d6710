//! Whether machines can be had: quotas and sizes of a region.

use serde_json::Value;

use crate::client::Client;
use crate::error::Error;
use crate::raw::Raw;
use crate::request::Call;
use crate::resource_id::ResourceId;

impl Client {
    /// What is used and allowed in a region, by name (`cores`, and one per family of sizes).
    pub async fn vm_usages(
        &self,
        subscription: &str,
        location: &str,
    ) -> Result<Vec<Raw<Value>>, Error> {
        // Checked as an id, so that a name cannot leave its place in the path.
        let path = format!(
            "/subscriptions/{subscription}/providers/Microsoft.Compute/locations/{location}"
        );
        let path = format!("{}/usages", ResourceId::parse(&path)?);
        self.list(Call::get(&path, self.versions.compute)?).await
    }

    /// The sizes of a region, with capabilities and restrictions.
    pub async fn vm_sizes(
        &self,
        subscription: &str,
        location: &str,
    ) -> Result<Vec<Raw<Value>>, Error> {
        let scope = ResourceId::parse(&format!("/subscriptions/{subscription}"))?;
        let path = format!("{scope}/providers/Microsoft.Compute/skus");
        let filter = format!("location eq '{}'", location.replace('\'', "''"));
        // This list has versions of its own.
        self.list(Call::get(&path, "2021-07-01")?.query("$filter", &filter)).await
    }
}
