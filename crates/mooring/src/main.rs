//! The operator's command line: wiring.

mod bundle;
mod cli;
mod cluster_cli;
mod codes;
mod connect;
mod controller;
mod demo;
mod dispatch;
mod documents;
mod explain;
mod failure;
mod finalizers;
mod journaled;
mod outfile;
mod repair;
mod show;
mod show_fleet;
mod show_why;
mod sim;
mod speed;
mod trace;
mod version;
mod why;

use std::process::ExitCode;

fn main() -> ExitCode {
    dispatch::run(cli::parse().command)
}
