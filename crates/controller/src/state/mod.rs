//! The controller as data: inputs in, actions out, nothing else.
//!
//! Level-triggered: whatever order inputs come in, and however often, the actions lead to the same
//! objects. What must survive a crash is on the API server: the verdict in the claim's condition and
//! in the record, the events under names that follow from the verdict. For a failure the order of
//! actions is record, events, condition; so a condition that stands means that all is written, and a
//! record without one means that the rest is to be made up for.

mod deferred;
mod event_reads;
mod inputs;
mod limits;
mod machine;
mod messages;
mod nodes;
mod reading;
mod reconcile;
mod registering;
mod sweeping;
mod telling;
mod tracked;

pub use machine::State;
pub use messages::{Action, Dropped, Input, Lengths, Read, Sweep, Swept, Target, Told};
pub use sweeping::{query as sweep_query, rows as sweep_rows};
