//! The facts that a page shows.

use mooring_nodes::ClusterFacts;
use serde::Serialize;

/// Process that serves the page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PageMode {
    /// The leader of the controller.
    Leader,
    /// A replica that does not lead.
    Follower,
    /// `mooring ui --local`.
    Local,
}

/// Facts of a cluster at one time.
#[derive(Debug, Clone)]
pub struct Snapshot {
    pub facts: ClusterFacts,
    pub mode: PageMode,
    /// None if the page is not served by the controller.
    pub details: Option<ControllerDetails>,
}

/// Figures that only the controller has.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ControllerDetails {
    pub instance: String,
    pub version: String,
    /// Error of the watches or the API server; none if all work.
    pub error: Option<String>,
    /// NodeClaims with a scheduled read of Azure.
    pub pending: usize,
    /// Reads that wait for the rate limit.
    pub waiting: usize,
    pub azure_requests: u64,
    pub azure_throttled: u64,
    pub azure_reads_left: u64,
}
