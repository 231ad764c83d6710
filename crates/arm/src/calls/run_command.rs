//! Runs a script on a VM. Requires write permission, and is used only on request.

use http::Method;
use serde::Deserialize;
use serde_json::json;

use super::page::or_default;
use super::vm::VmStatus;
use crate::client::Client;
use crate::error::Error;
use crate::operation::{Started, WriteKind};
use crate::path::resource_id::ResourceId;
use crate::raw::{RawError, RawObject};
use crate::request::Call;
use crate::request_class::Class;

/// A shell script for a VM. It must not contain secrets: Azure stores it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Script<'a> {
    pub lines: &'a [&'a str],
}

/// Output of a script: the last 4,096 bytes of each stream, which are untrusted text.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ScriptOutput {
    pub stdout: String,
    pub stderr: String,
}

impl ScriptOutput {
    pub fn read(result: &RawObject) -> Result<Self, RawError> {
        #[derive(Deserialize)]
        struct Output {
            #[serde(default, deserialize_with = "or_default")]
            value: Vec<VmStatus>,
        }
        let output: Output = serde_json::from_str(&result.text()?)?;
        let mut streams = Self::default();
        for status in output.value {
            let message = status.message;
            match status.code.as_str() {
                code if code.to_ascii_lowercase().contains("stdout") => streams.stdout = message,
                code if code.to_ascii_lowercase().contains("stderr") => streams.stderr = message,
                // Linux: both in one message.
                _ => {
                    let (head, stderr) =
                        message.split_once("\n[stderr]\n").unwrap_or((&message, ""));
                    let (_, stdout) = head.split_once("[stdout]\n").unwrap_or(("", head));
                    streams = Self { stdout: stdout.to_owned(), stderr: stderr.to_owned() };
                }
            }
        }
        Ok(streams)
    }
}

impl Client {
    /// Starts a script on a VM or an instance of a scale set. Retried only if it was provably not started;
    /// read the operation's result with [`ScriptOutput::read`].
    pub async fn run_script(&self, vm: &ResourceId, script: &Script<'_>) -> Result<Started, Error> {
        let call = Call::new(
            Method::POST,
            Class::Once,
            &format!("{vm}/runCommand"),
            self.versions.compute,
        )?
        .json(&json!({"commandId": "RunShellScript", "script": script.lines}))?;
        self.begin(&call, WriteKind::Action).await
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_streams_are_read_in_both_formats() {
        let read = |text: &str| ScriptOutput::read(&RawObject::parse(text).unwrap()).unwrap();
        let linux = read(
            r#"{"value":[{"code":"ProvisioningState/succeeded","message":"Enable succeeded: \n[stdout]\n{\"ExitCode\":\"0\"}\n\n[stderr]\noops"}]}"#,
        );
        assert_eq!(
            linux,
            ScriptOutput { stdout: "{\"ExitCode\":\"0\"}\n".into(), stderr: "oops".into() }
        );
        let windows = read(
            r#"{"value":[{"code":"ComponentStatus/StdOut/succeeded","message":"a"},{"code":"ComponentStatus/StdErr/succeeded","message":"b"}]}"#,
        );
        assert_eq!(windows, ScriptOutput { stdout: "a".into(), stderr: "b".into() });
        assert_eq!(read("{}"), ScriptOutput::default());
    }
}
