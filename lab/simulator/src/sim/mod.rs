//! The simulation as a process: a clock, a lock, a socket, and files with addresses and secrets for clients.

mod admin;
mod files;
mod routes;
mod shell;
mod simulation;

pub use files::{FilesError, owner, remove_environment};
pub use shell::{LockedAzure, Shell};
pub use simulation::{SimError, Simulation, SimulationSettings, start};
