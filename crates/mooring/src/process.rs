//! Process of a command: its environment variables and its runtime.

use std::io;

use tokio::runtime::{Builder, Runtime};
use tokio::signal::unix::{SignalKind, signal};

use crate::output::failure::CommandFailure;

pub(crate) fn env_var(name: &str) -> Option<String> {
    std::env::var(name).ok()
}

pub(crate) fn build_runtime() -> Result<Runtime, CommandFailure> {
    Ok(Builder::new_current_thread().enable_all().build()?)
}

/// Returns the runtime of a command that serves.
pub fn build_server_runtime() -> io::Result<Runtime> {
    Builder::new_multi_thread().worker_threads(2).enable_all().build()
}

/// Returns the end of a command that serves: Ctrl-C or SIGTERM, which are received from now on.
pub fn stop_signal() -> io::Result<impl Future<Output = ()>> {
    let mut interrupted = signal(SignalKind::interrupt())?;
    let mut terminated = signal(SignalKind::terminate())?;
    Ok(async move {
        tokio::select! {
            _ = interrupted.recv() => {}
            _ = terminated.recv() => {}
        }
    })
}
