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
    // What a panic says may quote a secret; where it happened cannot.
    std::panic::set_hook(Box::new(|panic| {
        let place = panic.location().map_or_else(String::new, ToString::to_string);
        let text = format!(
            "a bug in mooring, at {place}\nhint: please report it with the command that led there"
        );
        let _ = failure::Failure::unreadable(text).report();
    }));
    dispatch::run(cli::parse().command)
}
