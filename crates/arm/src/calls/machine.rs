//! AKS machines: single nodes of a pool.

use crate::client::Client;
use crate::error::Error;
use crate::raw::{Document, Raw};
use crate::request::Call;
use crate::resource_id::ResourceId;

impl Client {
    /// Returns all machines of a pool with one list, instead of one read per machine.
    pub async fn machines(&self, pool: &ResourceId) -> Result<Vec<Raw<Document>>, Error> {
        self.list(Call::get(&format!("{pool}/machines"), self.versions.machines)?).await
    }

    pub async fn machine(&self, machine: &ResourceId) -> Result<Raw<Document>, Error> {
        let call = Call::get(machine.as_str(), self.versions.machines)?;
        self.send(&call).await?.parse(call.path())
    }
}
