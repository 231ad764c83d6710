//! The node agent's binary: wiring.

use std::ffi::OsString;
use std::process::ExitCode;

use mooring_agent::world::Host;

fn main() -> ExitCode {
    let words: Vec<OsString> = std::env::args_os().skip(1).collect();
    ExitCode::from(mooring_agent::run(&words, &mut Host::of_own_process()))
}
