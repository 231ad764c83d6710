//! Opens an address in the user's browser.

use std::ffi::OsString;
use std::io::IsTerminal as _;
use std::process::{Command, Stdio};

#[cfg(target_os = "macos")]
const OPENER: &str = "open";
#[cfg(not(target_os = "macos"))]
const OPENER: &str = "xdg-open";

/// Returns true if a browser was started.
pub(super) fn open(url: &str) -> bool {
    if !is_expected(std::io::stdout().is_terminal(), |name| std::env::var_os(name)) {
        return false;
    }
    let silent = || Stdio::null();
    let mut command = Command::new(OPENER);
    command.arg(url).stdin(silent()).stdout(silent()).stderr(silent()).spawn().is_ok()
}

/// Returns true if the user is at a terminal with a display.
fn is_expected(is_terminal: bool, variable: impl Fn(&str) -> Option<OsString>) -> bool {
    let is_set = |name: &str| variable(name).is_some_and(|value| !value.is_empty());
    let has_display = cfg!(target_os = "macos") || is_set("DISPLAY") || is_set("WAYLAND_DISPLAY");
    is_terminal && has_display
}

#[cfg(all(test, not(target_os = "macos")))]
mod tests {
    use super::*;

    #[test]
    fn browser_needs_a_terminal_and_a_display() {
        let is_expected = |is_terminal: bool, name: &str, value: &str| {
            is_expected(is_terminal, |wanted| (wanted == name).then(|| OsString::from(value)))
        };
        assert!(is_expected(true, "DISPLAY", ":0"));
        assert!(is_expected(true, "WAYLAND_DISPLAY", "wayland-0"));
        assert!(!is_expected(true, "DISPLAY", "") && !is_expected(true, "TERM", "xterm"));
        assert!(!is_expected(false, "DISPLAY", ":0"));
    }
}
