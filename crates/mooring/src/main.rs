//! The operator's command line: wiring.

mod cli;
mod cluster_cli;
mod codes;
mod connect;
mod controller;
mod dispatch;
mod documents;
mod explain;
mod failure;
mod finalizers;
mod repair;
mod show;
mod show_fleet;
mod show_why;
mod sim;
mod why;

use std::process::ExitCode;

use clap::Parser as _;

fn main() -> ExitCode {
    dispatch::run(cli::Cli::parse().command)
}
