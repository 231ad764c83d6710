//! Finds tools for tests, and requires them.

use std::env;
use std::path::PathBuf;

/// `1` allows skips. `cargo xtask test` sets it, unless it is `0`.
const ALLOW_SKIPS: &str = "MOORING_ALLOW_SKIPS";
/// Directory of the Python environment with `kubectl`; set by `cargo xtask test`.
const CLIENTS_ENVIRONMENT: &str = "MOORING_CLIENTS_ENVIRONMENT";

/// Returns a tool that a test needs. Without it the test fails with the tool's name, unless skips are allowed: then it
/// prints a line that starts with `SKIPPED`, which the runner counts, and ends.
///
/// # Panics
///
/// If the tool is missing and skips are not allowed.
#[expect(
    clippy::panic,
    clippy::print_stdout,
    reason = "a test fails by panicking, and the runner reads its output"
)]
pub fn require<T>(found: Option<T>, tool: &str) -> Option<T> {
    match check(found.is_some(), tool, allows_skips()) {
        Ok(None) => {}
        Ok(Some(line)) => println!("{line}"),
        Err(message) => panic!("{message}"),
    }
    found
}

/// Returns true if a test may be skipped for a missing tool.
fn allows_skips() -> bool {
    env::var_os(ALLOW_SKIPS).is_some_and(|value| value == "1")
}

/// Returns the first program of a name on `PATH`.
pub fn find_program(name: &str) -> Option<PathBuf> {
    let path = env::var_os("PATH").unwrap_or_default();
    env::split_paths(&path).map(|place| place.join(name)).find(|program| program.is_file())
}

/// Returns the `kubectl` that the tests install, or else the first on `PATH`.
pub fn find_kubectl() -> Option<PathBuf> {
    let place =
        env::var_os(CLIENTS_ENVIRONMENT).map(|place| PathBuf::from(place).join("bin/kubectl"));
    place.filter(|program| program.is_file()).or_else(|| find_program("kubectl"))
}

/// Returns the line that reports a skipped test, if it is skipped.
fn check(is_found: bool, tool: &str, allows_skips: bool) -> Result<Option<String>, String> {
    match (is_found, allows_skips) {
        (true, _) => Ok(None),
        (false, true) => Ok(Some(format!("SKIPPED: {tool} is not installed"))),
        (false, false) => Err(format!(
            "{tool} is not installed\nhint: `cargo xtask test` installs it; MOORING_ALLOW_SKIPS=1 runs without it"
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::check;

    #[test]
    fn missing_tool_fails_unless_skips_are_allowed() {
        for allows_skips in [true, false] {
            assert_eq!(check(true, "Helm", allows_skips), Ok(None));
        }
        assert!(check(false, "Helm", false).unwrap_err().starts_with("Helm is not installed"));
        let line = check(false, "Helm", true).unwrap().unwrap();
        assert_eq!(line, "SKIPPED: Helm is not installed");
    }
}
