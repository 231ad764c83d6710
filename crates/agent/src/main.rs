//! The node agent's binary: wiring.

use std::ffi::OsString;
use std::process::ExitCode;

use mooring_agent::world::Host;

#[cfg(target_env = "musl")]
#[global_allocator]
static ALLOCATOR: dlmalloc::GlobalDlmalloc = dlmalloc::GlobalDlmalloc;

fn main() -> ExitCode {
    let words: Vec<OsString> = std::env::args_os().skip(1).collect();
    ExitCode::from(mooring_agent::run(&words, &mut Host::of_own_process()))
}
