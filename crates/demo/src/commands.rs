//! Commands of this very program, run as an operator would: with what `env.sh` says, and nothing else.

use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, BufReader};
use tokio::process::{Child, Command};
use tokio::time::Instant;

use crate::trouble::Trouble;
use crate::{files, processes};

/// No question takes longer, or something waits for ever.
const PATIENCE: Duration = Duration::from_mins(1);

/// This program, with the way to the simulated cloud.
#[derive(Debug, Clone)]
pub(crate) struct Mooring {
    pub(crate) program: PathBuf,
    pub(crate) environment: Vec<(String, String)>,
    pub(crate) logs: PathBuf,
}

#[derive(Debug, Clone)]
pub(crate) struct Answer {
    /// None if a signal ended it.
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
    pub(crate) took: Duration,
}

/// What `env.sh` exports.
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
        // Nothing of the person's own environment: it may lead to a cloud that is none of our business.
        command
            .args(words)
            .env_clear()
            .envs(self.environment.iter().cloned())
            .stdin(Stdio::null())
            .kill_on_drop(true)
            // A Ctrl-C is for the demo, which then ends its children in order.
            .process_group(0);
        command
    }

    /// Runs a command to its end.
    pub(crate) async fn ask(&self, words: &[&str]) -> Result<Answer, Trouble> {
        let began = Instant::now();
        let mut command = self.command(words);
        let shown = format!("mooring {}", words.join(" "));
        let failed = |error| Trouble::broken(&shown, error);
        let child = processes::spawn(command.stdout(Stdio::piped()).stderr(Stdio::piped()));
        let output = child.map_err(failed)?.wait_with_output();
        let output = tokio::time::timeout(PATIENCE, output)
            .await
            .map_err(|_| Trouble::broken(&shown, "it took too long"))?
            .map_err(failed)?;
        Ok(Answer {
            code: output.status.code(),
            stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
            stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
            took: began.elapsed(),
        })
    }

    /// Starts a command that goes on; what it says goes to a log.
    pub(crate) fn start(&self, words: &[&str], log: &Path) -> Result<Child, Trouble> {
        let failed = |error| Trouble::broken(&log.display().to_string(), error);
        let (out, err) = (files::log(log).map_err(failed)?, files::log(log).map_err(failed)?);
        let child = processes::spawn(self.command(words).stdout(out).stderr(err));
        child.map_err(|error| Trouble::broken(&self.program.display().to_string(), error))
    }

    /// Runs a command and hands on what it says line by line; it is killed, by the signal that nobody can catch, as
    /// soon as `hear` says so.
    pub(crate) async fn follow(
        &self,
        words: &[&str],
        mut hear: impl FnMut(&str) -> bool,
    ) -> Result<Answer, Trouble> {
        let began = Instant::now();
        let shown = format!("mooring {}", words.join(" "));
        let failed = |error: std::io::Error| Trouble::broken(&shown, error);
        let mut command = self.command(words);
        let child = processes::spawn(command.stdout(Stdio::piped()).stderr(Stdio::piped()));
        let mut child = child.map_err(failed)?;
        let (Some(mut out), Some(err)) = (child.stdout.take(), child.stderr.take()) else {
            return Err(Trouble::broken(&shown, "it has no output"));
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
        Ok(Answer { code: status.code(), stdout, stderr, took: began.elapsed() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_exports_are_read() {
        let text = "export A='b c'\n# x\nexport Q='it'\\''s'\nB=2\n";
        let pairs = [("A", "b c"), ("Q", "it's")].map(|(name, value)| (name.into(), value.into()));
        assert_eq!(exported(text), pairs);
    }
}
