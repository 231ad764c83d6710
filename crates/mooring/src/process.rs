//! Process of a command: its environment variables and its runtime.

use tokio::runtime::Runtime;

use crate::output::failure::CommandFailure;

pub(crate) fn env_var(name: &str) -> Option<String> {
    std::env::var(name).ok()
}

pub(crate) fn build_runtime() -> Result<Runtime, CommandFailure> {
    Ok(tokio::runtime::Builder::new_current_thread().enable_all().build()?)
}
