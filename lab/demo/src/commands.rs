//! Runs `mooring` as an operator would, only with the environment of `env.sh`.

use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, BufReader};
use tokio::process::{Child, Command};
use tokio::time::Instant;

use crate::error::DemoError;
use crate::host::files;
use crate::host::processes::{self, EndedProcess};

const COMMAND_TIMEOUT: Duration = Duration::from_mins(1);

/// File name of the command line.
pub const MOORING: &str = "mooring";
/// File name of the agent.
pub const AGENT: &str = "aks-node-controller";

/// Links by which nodes and operators start the programs.
pub(crate) struct Programs {
    pub(crate) mooring: PathBuf,
    pub(crate) agent: PathBuf,
}

impl Programs {
    pub(crate) fn link(binary: &Path, directory: &Path) -> Result<Self, DemoError> {
        let failed = |error| DemoError::broken(&directory.display().to_string(), error);
        files::directory(directory).map_err(failed)?;
        let link = |name: &str| {
            let link = directory.join(name);
            std::os::unix::fs::symlink(binary, &link).map(|()| link)
        };
        let (mooring, agent) = (link(MOORING).map_err(failed)?, link(AGENT).map_err(failed)?);
        Ok(Self { mooring, agent })
    }
}

/// The command line, configured for the simulated cloud.
#[derive(Debug, Clone)]
pub(crate) struct Mooring {
    pub(crate) program: PathBuf,
    pub(crate) environment: Vec<(String, String)>,
    pub(crate) logs: PathBuf,
}

/// Parses the exports of `env.sh`.
pub(crate) fn exported(text: &str) -> Vec<(String, String)> {
    let pair = |line: &str| {
        let (name, value) = line.strip_prefix("export ")?.split_once('=')?;
        let value = value.strip_prefix('\'')?.strip_suffix('\'')?;
        Some((name.to_owned(), value.replace(r"'\''", "'")))
    };
    text.lines().filter_map(pair).collect()
}

impl Mooring {
    fn command(&self, words: &[&str]) -> Command {
        let mut command = Command::new(&self.program);
        // The user's environment is not inherited: it may point to a real cloud.
        command
            .args(words)
            .env_clear()
            .envs(self.environment.iter().cloned())
            .stdin(Stdio::null())
            .kill_on_drop(true)
            // The demo handles Ctrl-C and then stops its children in order.
            .process_group(0);
        command
    }

    pub(crate) async fn ask(&self, words: &[&str]) -> Result<EndedProcess, DemoError> {
        let began = Instant::now();
        let mut command = self.command(words);
        let shown = format!("mooring {}", words.join(" "));
        let failed = |error| DemoError::broken(&shown, error);
        let child = processes::spawn(command.stdout(Stdio::piped()).stderr(Stdio::piped()));
        let ended = processes::ended(child.map_err(failed)?, began, COMMAND_TIMEOUT).await;
        ended.map_err(failed)?.ok_or_else(|| DemoError::broken(&shown, "it took too long"))
    }

    /// Starts a long-running command with its output in a log.
    pub(crate) fn start(&self, words: &[&str], log: &Path) -> Result<Child, DemoError> {
        let failed = |error| DemoError::broken(&log.display().to_string(), error);
        let (out, err) = (files::log(log).map_err(failed)?, files::log(log).map_err(failed)?);
        let child = processes::spawn(self.command(words).stdout(out).stderr(err));
        child.map_err(|error| DemoError::broken(&self.program.display().to_string(), error))
    }

    /// Runs a command and passes its output on line by line; kills it with SIGKILL when `hear` returns true.
    pub(crate) async fn follow(
        &self,
        words: &[&str],
        mut hear: impl FnMut(&str) -> bool,
    ) -> Result<EndedProcess, DemoError> {
        let began = Instant::now();
        let shown = format!("mooring {}", words.join(" "));
        let failed = |error: std::io::Error| DemoError::broken(&shown, error);
        let mut command = self.command(words);
        let child = processes::spawn(command.stdout(Stdio::piped()).stderr(Stdio::piped()));
        let mut child = child.map_err(failed)?;
        let (Some(mut out), Some(err)) = (child.stdout.take(), child.stderr.take()) else {
            return Err(DemoError::broken(&shown, "it has no output"));
        };
        let mut lines = BufReader::new(err).lines();
        let mut stderr = String::new();
        let listen = async {
            while let Some(line) = lines.next_line().await? {
                let kill = hear(&line);
                stderr.push_str(&line);
                stderr.push('\n');
                if kill {
                    child.start_kill()?;
                    break;
                }
            }
            Ok(())
        };
        let mut stdout = Vec::new();
        let (heard, read) = tokio::join!(listen, out.read_to_end(&mut stdout));
        heard.map_err(failed)?;
        read.map_err(failed)?;
        let status = child.wait().await.map_err(failed)?;
        let stdout = String::from_utf8_lossy(&stdout).into_owned();
        Ok(EndedProcess { code: status.code(), stdout, stderr, took: began.elapsed() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn env_file_parser_reads_only_exports() {
        let text = "export A='b c'\n# x\nexport Q='it'\\''s'\nB=2\n";
        let pairs = [("A", "b c"), ("Q", "it's")].map(|(name, value)| (name.into(), value.into()));
        assert_eq!(exported(text), pairs);
    }
}
