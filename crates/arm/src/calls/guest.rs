//! What runs on a VM: scripts, and the log of its boot.

use bytes::Bytes;
use futures::future::{Either, select};
use http::Method;
use serde::Deserialize;
use serde_json::{Value, json};
use url::Url;

use super::compute::VmStatus;
use crate::client::Client;
use crate::error::{Error, ErrorKind};
use crate::operation::{Started, WriteKind};
use crate::path::resource_id::ResourceId;
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
    /// Reads the result of a script; none if it is no list of streams.
    pub fn read(result: &Value) -> Option<Self> {
        let mut streams = Self::default();
        for status in Vec::<VmStatus>::deserialize(result.get("value")?).ok()? {
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
        Some(streams)
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

/// Hosts of storage accounts, which serve the logs of all VMs.
const STORAGE: [&str; 4] = [
    ".blob.core.windows.net",
    ".blob.storage.azure.net",
    ".blob.core.usgovcloudapi.net",
    ".blob.core.chinacloudapi.cn",
];

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Addresses {
    /// Has a signature: never printed.
    #[serde(default)]
    serial_console_log_blob_uri: Option<String>,
}

impl Client {
    /// Returns the extensions of a VM with their instance views.
    pub async fn extensions(&self, vm: &ResourceId) -> Result<Value, Error> {
        let call = Call::get(&format!("{vm}/extensions"), self.versions.compute)?;
        self.read(call.query("$expand", "instanceView")).await
    }

    /// Returns the log of a VM's serial console; none if Azure has no log.
    pub async fn serial_log(&self, vm: &ResourceId) -> Result<Option<Bytes>, Error> {
        let path = format!("{vm}/retrieveBootDiagnosticsData");
        let call = Call::new(Method::POST, Class::Read, &path, self.versions.compute)?;
        let addresses: Addresses = self.read(call).await?;
        let Some(address) = addresses.serial_console_log_blob_uri else { return Ok(None) };
        let malformed = |what: &str| Error::malformed(Method::GET, &path, "", what);
        let failed = |kind| Error { kind, ..malformed("") };
        let url = Url::parse(&address).map_err(|_| malformed("invalid URL of the serial log"))?;
        if !serves_logs(self.cloud().endpoint(), &url) {
            return Err(failed(ErrorKind::ForeignLink(url.origin().ascii_serialization())));
        }
        let request = http::Request::get(url.as_str()).body(Bytes::new());
        let request = request.map_err(|_| malformed("invalid URL of the serial log"))?;
        // The signature is the only credential: a storage account gets no token.
        let sent = select(self.world().send(request), self.world().sleep(self.within)).await;
        let response = match sent {
            Either::Left((sent, _)) => sent.map_err(|error| failed(ErrorKind::Transport(error)))?,
            Either::Right(_) => return Err(failed(ErrorKind::Deadline("the serial log"))),
        };
        match response.status().as_u16() {
            200 => Ok(Some(response.into_body())),
            404 => Ok(None),
            status => Err(malformed(&format!("status {status} for the serial log"))),
        }
    }
}

/// Returns true for a storage account, and for the host of a simulator, which serves everything.
fn serves_logs(endpoint: &Url, url: &Url) -> bool {
    let host = url.host_str().unwrap_or_default();
    let has_user = !url.username().is_empty() || url.password().is_some();
    let is_own = url.origin() == endpoint.origin();
    let is_storage = || STORAGE.iter().any(|suffix| host.ends_with(suffix));
    url.scheme() == "https" && !has_user && (is_own || is_storage())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_streams_are_read_in_both_formats() {
        let read = |text: &str| ScriptOutput::read(&serde_json::from_str(text).unwrap());
        let linux = read(
            r#"{"value":[{"code":"ProvisioningState/succeeded","message":"Enable succeeded: \n[stdout]\n{\"ExitCode\":\"0\"}\n\n[stderr]\noops"}]}"#,
        );
        assert_eq!(
            linux,
            Some(ScriptOutput { stdout: "{\"ExitCode\":\"0\"}\n".into(), stderr: "oops".into() })
        );
        let windows = read(
            r#"{"value":[{"code":"ComponentStatus/StdOut/succeeded","message":"a"},{"code":"ComponentStatus/StdErr/succeeded","message":"b"}]}"#,
        );
        assert_eq!(windows, Some(ScriptOutput { stdout: "a".into(), stderr: "b".into() }));
        assert_eq!(read("{}"), None);
    }

    #[test]
    fn log_is_read_from_storage_accounts_only() {
        let endpoint = Url::parse("https://127.0.0.1:8443/").unwrap();
        let serves = |url: &str| serves_logs(&endpoint, &Url::parse(url).unwrap());
        for url in [
            "https://md-abc.z1.blob.storage.azure.net/bootdiagnostics/x?sig=s",
            "https://account.blob.core.windows.net/x",
            "https://127.0.0.1:8443/bootdiagnostics/x",
        ] {
            assert!(serves(url), "{url}");
        }
        for url in [
            "http://account.blob.core.windows.net/x",
            "https://blob.core.windows.net.example.com/x",
            "https://user@account.blob.core.windows.net/x",
            "https://127.0.0.1:9/x",
            "https://169.254.169.254/metadata",
        ] {
            assert!(!serves(url), "{url}");
        }
    }
}
