//! Output of a run: its state, JSON documents and screens.

pub mod flowchart;
pub mod plural;
pub mod published;
pub mod screens;
pub mod status;
