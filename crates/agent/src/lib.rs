//! The node agent: a drop-in for AgentBaker's `aks-node-controller`.

pub mod environment;
