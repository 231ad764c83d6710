//! Runs the real kubectl if it is installed. Only its output is shown as such.

use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use tokio::process::Command;
use tokio::time::Instant;

use crate::host::processes;
use crate::observer::CONDITION;
use crate::present::wrap::{cut, cut_end};

const TIMEOUT: Duration = Duration::from_secs(20);
/// Maximum characters of a line: events of Karpenter may fill pages.
const SHOWN: usize = 220;

/// kubectl, configured for the simulated cluster.
#[derive(Debug, Clone)]
pub(crate) struct Kubectl {
    program: PathBuf,
    kubeconfig: PathBuf,
    /// Directory of its cache, which must not outlive the cluster.
    home: PathBuf,
}

impl Kubectl {
    /// Searches the directories of `path` (the value of `PATH`).
    pub(crate) fn find(path: &std::ffi::OsStr, kubeconfig: &Path, home: &Path) -> Option<Self> {
        let programs = std::env::split_paths(path).map(|directory| directory.join("kubectl"));
        let program = programs.into_iter().find(|program| program.is_file())?;
        Some(Self { program, kubeconfig: kubeconfig.to_owned(), home: home.to_owned() })
    }

    /// Runs `kubectl describe`. Returns its output, or why it failed.
    pub(crate) async fn describe(&self, kind: &str, name: &str) -> Result<String, String> {
        let mut command = Command::new(&self.program);
        command
            .args(["describe", kind, name])
            .env_clear()
            .env("KUBECONFIG", &self.kubeconfig)
            .env("HOME", &self.home)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .kill_on_drop(true)
            .process_group(0);
        let child = processes::spawn(&mut command).map_err(|error| error.to_string())?;
        let ended = processes::ended(child, Instant::now(), TIMEOUT).await;
        match ended.map_err(|error| error.to_string())? {
            Some(ended) if ended.code == Some(0) => Ok(ended.stdout),
            Some(ended) => Err(cut(&ended.stderr, SHOWN)),
            None => Err("kubectl did not end in time".to_owned()),
        }
    }
}

/// Returns the lines of `kubectl describe nodeclaim` about the bootstrap: the name, the condition and all events. `...`
/// replaces others.
pub(crate) fn excerpt(output: &str) -> String {
    let lines: Vec<&str> = output.lines().collect();
    let events = lines.iter().position(|line| line.starts_with("Events:")).unwrap_or(lines.len());
    let kind =
        |line: &str| line.trim_start().strip_prefix("Type:").map(str::trim) == Some(CONDITION);
    // Fields of a condition are sorted, so `Type` is the last and `Last Transition Time` the first.
    let last = lines[..events].iter().position(|line| kind(line));
    let first = last.and_then(|last| {
        let first = |line: &&str| line.trim_start().starts_with("Last Transition Time:");
        lines[..last].iter().rposition(first)
    });
    let condition = first.zip(last).map(|(first, last)| first..=last);
    let mut shown: Vec<String> = Vec::new();
    let mut skipped = false;
    for (number, line) in lines.iter().enumerate() {
        let kept = number == 0
            || number >= events
            || condition.as_ref().is_some_and(|condition| condition.contains(&number));
        if kept {
            shown.push(cut_end(line, SHOWN));
        } else if !skipped {
            shown.push("...".to_owned());
        }
        skipped = !kept;
    }
    shown.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn excerpt_keeps_output_lines_and_marks_omissions() {
        let output = "\
Name:         default-x
Kind:         NodeClaim
Status:
  Conditions:
    Last Transition Time:  2026-11-15T05:00:02Z
    Reason:                Launched
    Status:                True
    Type:                  Launched
    Last Transition Time:  2026-11-15T05:00:40Z
    Message:               CSE exited with code 232
    Reason:                CSEFailed
    Status:                False
    Type:                  CSEProvisioned
  Image ID:                x
Events:
  Type     Reason     Age   From     Message
  Warning  CSEFailed  3s    mooring  it failed
";
        assert_eq!(
            excerpt(output).lines().collect::<Vec<_>>(),
            [
                "Name:         default-x",
                "...",
                "    Last Transition Time:  2026-11-15T05:00:40Z",
                "    Message:               CSE exited with code 232",
                "    Reason:                CSEFailed",
                "    Status:                False",
                "    Type:                  CSEProvisioned",
                "...",
                "Events:",
                "  Type     Reason     Age   From     Message",
                "  Warning  CSEFailed  3s    mooring  it failed",
            ]
        );
    }

    #[test]
    fn kubectl_is_found_only_where_it_is() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().as_os_str();
        let (config, home) = (Path::new("/c"), Path::new("/h"));
        assert!(Kubectl::find(path, config, home).is_none());
        std::fs::File::create_new(directory.path().join("kubectl")).unwrap();
        assert!(Kubectl::find(path, config, home).is_some());
    }
}
