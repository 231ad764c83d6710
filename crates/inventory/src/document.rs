//! The envelope of JSON documents.

use jiff::Timestamp;
use serde::Serialize;

/// The cluster that a document is about. Unknown members are null.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct ClusterIdentity {
    pub name: Option<String>,
    /// ARM id of the cluster.
    pub id: Option<String>,
    pub context: Option<String>,
    /// URL of the API server.
    pub server: Option<String>,
    /// Uid of the namespace `kube-system`.
    pub uid: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum SourceName {
    Cluster,
    Record,
    Azure,
    Controller,
}

impl SourceName {
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Cluster => "cluster",
            Self::Record => "record",
            Self::Azure => "Azure",
            Self::Controller => "controller",
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum SourceState {
    Read,
    /// Exists, and was written long ago.
    Stale,
    /// Was asked, and does not exist.
    Absent,
    NotAsked,
    Failed,
}

/// A source of facts.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Source {
    pub name: SourceName,
    pub state: SourceState,
    /// Time of its facts.
    pub at: Option<Timestamp>,
    /// Duration of the read.
    pub seconds: Option<f64>,
    pub error: Option<String>,
}

impl Source {
    pub const fn new(name: SourceName, state: SourceState) -> Self {
        Self { name, state, at: None, seconds: None, error: None }
    }
}

/// A document: schema first, then cluster, sources and content.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Document<T> {
    pub schema: &'static str,
    pub generated_at: Timestamp,
    pub cluster: ClusterIdentity,
    pub sources: Vec<Source>,
    #[serde(flatten)]
    pub content: T,
}
