//! The two parsers whose acceptance rules are reproduced.

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Dialect {
    /// Go's `protojson`, which reads the node config.
    Protobuf,
    /// Go's `encoding/json`, which reads every other file on the node.
    Go,
}
