//! Schemas of the documents.

pub(crate) const FLEET: &str = mooring_nodes::status::FLEET_SCHEMA;
pub(crate) const FORMER_FLEET: &str = "mooring.fleet/v1";
pub(crate) const WHY: &str = "mooring.why/v2";
pub(crate) const FORMER_WHY: &str = "mooring.why/v1";
