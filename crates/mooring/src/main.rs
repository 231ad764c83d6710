//! Command line of Mooring.

mod answers;
mod bundle;
mod cli;
mod cluster;
mod cluster_args;
mod codes;
mod config;
mod connect;
mod controller;
mod demo;
mod dispatch;
mod doctor;
mod error_document;
mod explain;
mod failure;
mod finalizers;
mod former;
mod man;
mod man_page;
mod outfile;
mod output;
mod page;
mod published;
mod repair;
mod runs;
mod schema;
mod show;
mod sim;
mod speed;
mod suggest;
mod trace;
mod ui;
mod version;

use std::process::ExitCode;

fn main() -> ExitCode {
    // The message of a panic may contain a secret; its location cannot.
    std::panic::set_hook(Box::new(|panic| {
        let place = panic.location().map_or_else(String::new, ToString::to_string);
        let text = format!(
            "internal error at {place}\nhint: please report this, with the command that you ran"
        );
        let _ = failure::Failure::io(text).report();
    }));
    let cli = match cli::parse() {
        Ok(cli) => cli,
        Err(code) => return code,
    };
    output::init(cli.output);
    match cli.command {
        Some(command) => dispatch::run(command),
        None => dispatch::run_without_command(),
    }
}
