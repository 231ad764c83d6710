//! Opens an address in the user's browser.

use std::io::IsTerminal as _;
use std::process::{Command, Stdio};

#[cfg(target_os = "macos")]
const OPENER: &str = "open";
#[cfg(not(target_os = "macos"))]
const OPENER: &str = "xdg-open";

/// Returns true if a browser was started.
pub(super) fn open(url: &str) -> bool {
    let is_set = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    let has_display = cfg!(target_os = "macos") || is_set("DISPLAY") || is_set("WAYLAND_DISPLAY");
    if !has_display || !std::io::stdout().is_terminal() {
        return false;
    }
    let silent = || Stdio::null();
    let mut command = Command::new(OPENER);
    command.arg(url).stdin(silent()).stdout(silent()).stderr(silent()).spawn().is_ok()
}
