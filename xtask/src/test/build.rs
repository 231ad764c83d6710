//! Builds all test binaries and lists them, from the messages of Cargo.

use std::path::PathBuf;
use std::process::Stdio;

use serde_json::Value;

use crate::step::{Failed, command, root};

/// Examples are left to Clippy, which checks them; benchmarks are not tests.
const BUILD: [&str; 6] = [
    "test",
    "--workspace",
    "--locked",
    "--tests",
    "--no-run",
    "--message-format=json-render-diagnostics",
];
const DOC_TESTS: [&str; 4] = ["test", "--workspace", "--locked", "--doc"];

/// A test binary, or the documentation tests of all crates.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Suite {
    /// Directory of the crate and name of the target, as `agent/it`; unit tests are `agent/lib` and `agent/bin`.
    pub(super) name: String,
    /// The package's directory, where Cargo starts test binaries.
    pub(super) directory: PathBuf,
    /// The package's name and version; empty for documentation tests.
    pub(super) package: (String, String),
    pub(super) program: PathBuf,
    pub(super) arguments: &'static [&'static str],
}

impl Suite {
    /// Returns true for a test binary, which accepts the arguments of libtest.
    pub(super) fn is_binary(&self) -> bool {
        self.arguments.is_empty()
    }
}

/// Builds, and returns what is to be run, sorted by name.
pub(super) fn build() -> Result<Vec<Suite>, Failed> {
    let built = command("cargo")
        .args(BUILD)
        .stdin(Stdio::null())
        .stderr(Stdio::inherit())
        .output()
        .map_err(|error| Failed(format!("cannot start cargo: {error}")))?;
    if !built.status.success() {
        return Err(Failed(format!("`cargo {}` ended with {}", BUILD.join(" "), built.status)));
    }
    let mut suites: Vec<Suite> =
        String::from_utf8_lossy(&built.stdout).lines().filter_map(suite).collect();
    suites.sort_by(|one, other| one.name.cmp(&other.name));
    suites.push(Suite {
        name: "doc-tests".to_owned(),
        directory: root(),
        package: Default::default(),
        program: "cargo".into(),
        arguments: &DOC_TESTS,
    });
    Ok(suites)
}

/// Reads a message of Cargo; none unless it is about a test binary.
fn suite(line: &str) -> Option<Suite> {
    let message: Value = serde_json::from_str(line).ok()?;
    if message["reason"] != "compiler-artifact" || message["profile"]["test"] != true {
        return None;
    }
    let program = PathBuf::from(message["executable"].as_str()?);
    let directory = PathBuf::from(message["manifest_path"].as_str()?).parent()?.to_owned();
    let target = match message["target"]["kind"][0].as_str()? {
        kind @ ("lib" | "bin") => kind,
        _ => message["target"]["name"].as_str()?,
    };
    let name = format!("{}/{target}", directory.file_name()?.to_str()?);
    // path+file:///repository/crates/agent#mooring-agent@0.1.0, or #0.1.0 if the directory has the package's name
    let id = message["package_id"].as_str()?.rsplit('#').next()?;
    let (package, version) = id.split_once('@').unwrap_or((directory.file_name()?.to_str()?, id));
    let package = (package.to_owned(), version.to_owned());
    Some(Suite { name, directory, package, program, arguments: &[] })
}

#[cfg(test)]
mod tests {
    use super::suite;

    fn message(reason: &str, kind: &str, test: bool, executable: &str) -> String {
        format!(
            r#"{{"reason":"{reason}","package_id":"path+file:///r/crates/agent#mooring-agent@0.1.0",
            "manifest_path":"/r/crates/agent/Cargo.toml","target":{{"kind":["{kind}"],"name":"it"}},
            "profile":{{"test":{test}}},"executable":{executable}}}"#
        )
        .replace('\n', "")
    }

    #[test]
    fn test_binaries_are_named_by_crate_and_target() {
        let program = "\"/r/target/debug/deps/it-0a\"";
        let found = suite(&message("compiler-artifact", "test", true, program)).unwrap();
        assert_eq!(found.name, "agent/it");
        assert_eq!(found.directory.to_str().unwrap(), "/r/crates/agent");
        assert_eq!(found.package, ("mooring-agent".to_owned(), "0.1.0".to_owned()));
        for kind in ["lib", "bin"] {
            let found = suite(&message("compiler-artifact", kind, true, program)).unwrap();
            assert_eq!(found.name, format!("agent/{kind}"));
        }
    }

    #[test]
    fn other_messages_are_not_test_binaries() {
        let program = "\"/r/target/debug/mooring\"";
        for line in [
            message("compiler-artifact", "bin", false, program),
            message("compiler-artifact", "lib", true, "null"),
            message("build-finished", "test", true, program),
            "text that a build script printed".to_owned(),
        ] {
            assert_eq!(suite(&line), None, "{line}");
        }
    }
}
