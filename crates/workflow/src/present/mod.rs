//! Output of a run: its history, state, JSON documents and screens.

pub mod flowchart;
pub mod plural;
pub mod published;
pub mod report;
pub mod screens;
pub mod status;
