//! The controller as a pure state machine: inputs in, actions out.
//!
//! Level-triggered: regardless of the order and repetition of inputs, the actions lead to the same objects.
//! State that must survive a crash is on the API server: the verdict in the condition of the NodeClaim and in
//! the record, the events under names derived from the verdict. For a failure the order of actions is record,
//! events, condition; so a condition on the object means that everything is written, and a record without a
//! condition means that the rest must be written again.

mod condition_write;
mod counting;
mod events;
mod inputs;
mod machine;
mod messages;
mod reads;
mod reconcile;
mod registration;
mod sweep;
mod tracked;

pub use machine::State;
pub use messages::{
    Action, DiagnosedClaim, DropCounts, Input, QueueLengths, ReadRequest, ReadTarget, Sweep,
    SweepResult,
};
pub use sweep::{SweepRow, query as sweep_query};

#[cfg(test)]
mod tests;
