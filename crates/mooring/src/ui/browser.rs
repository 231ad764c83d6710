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
    if !std::io::stdout().is_terminal() || !has_display(|name| std::env::var_os(name)) {
        return false;
    }
    let silent = || Stdio::null();
    let mut command = Command::new(OPENER);
    command.arg(url).stdin(silent()).stdout(silent()).stderr(silent()).spawn().is_ok()
}

fn has_display(variable: impl Fn(&str) -> Option<OsString>) -> bool {
    let is_set = |name: &str| variable(name).is_some_and(|value| !value.is_empty());
    cfg!(target_os = "macos") || is_set("DISPLAY") || is_set("WAYLAND_DISPLAY")
}

#[cfg(all(test, not(target_os = "macos")))]
mod tests {
    use super::*;

    #[test]
    fn one_display_is_enough() {
        let has = |name: &str, value: &str| {
            has_display(|wanted| (wanted == name).then(|| OsString::from(value)))
        };
        assert!(has("DISPLAY", ":0") && has("WAYLAND_DISPLAY", "wayland-0"));
        assert!(!has("DISPLAY", "") && !has("TERM", "xterm"));
    }
}
