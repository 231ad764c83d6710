//! JSON and YAML documents: the members that all have in common.

use jiff::{Timestamp, Unit};
use mooring_workflow::published::{ClusterIdentity, Source};
use serde::Serialize;

use crate::failure::Failure;
use crate::show;

/// A document: schema, time, cluster and sources, then its content.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Document<'a, T> {
    schema: &'static str,
    generated_at: Timestamp,
    cluster: &'a ClusterIdentity,
    sources: &'a [Source],
    #[serde(flatten)]
    content: &'a T,
}

impl<'a, T: Serialize> Document<'a, T> {
    pub(crate) fn new(
        schema: &'static str,
        cluster: &'a ClusterIdentity,
        sources: &'a [Source],
        content: &'a T,
    ) -> Self {
        let now = Timestamp::now();
        let generated_at = now.round(Unit::Millisecond).unwrap_or(now);
        Self { schema, generated_at, cluster, sources, content }
    }

    /// Returns the document as one line, for `--watch`.
    pub(crate) fn line(&self) -> Result<String, Failure> {
        let text = serde_json::to_string(self).map_err(|error| Failure::io(error.to_string()))?;
        Ok(show::escape_hidden(&text) + "\n")
    }
}
