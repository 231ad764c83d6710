//! Opens an address in the user's browser.

use std::ffi::OsString;
use std::io::{self, IsTerminal as _, Write as _};
use std::process::{Command, Stdio};

use tempfile::NamedTempFile;

#[cfg(target_os = "macos")]
const OPENER: &str = "open";
#[cfg(not(target_os = "macos"))]
const OPENER: &str = "xdg-open";

/// Starts a browser with a file that opens the address: every local user can read the arguments of a process. Returns the
/// file, which exists until it is dropped; none without a browser.
pub(super) fn open(url: &str) -> Option<NamedTempFile> {
    if !is_expected(io::stdout().is_terminal(), |name| std::env::var_os(name)) {
        return None;
    }
    let file = redirect_file(url).ok()?;
    let silent = || Stdio::null();
    let mut command = Command::new(OPENER);
    command.arg(file.path()).stdin(silent()).stdout(silent()).stderr(silent());
    command.spawn().is_ok().then_some(file)
}

/// Writes a file with mode 0600.
fn redirect_file(url: &str) -> io::Result<NamedTempFile> {
    let mut file = tempfile::Builder::new().prefix("mooring-").suffix(".html").tempfile()?;
    write!(
        file,
        "<!doctype html>\n<meta http-equiv=\"refresh\" content=\"0; url={url}\">\n<title>Mooring</title>\n<a href=\"{url}\">Open the page</a>\n"
    )?;
    Ok(file)
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
