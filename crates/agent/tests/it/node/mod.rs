//! The agent on a node in a directory.

mod bootstrap;
mod canary;
mod faults;
mod hotfix;
mod irregular_files;
mod launcher;
mod panics;
mod preflight;
mod processes;
mod reboots;
mod registry;
mod render;
mod stops;
mod verdicts;
