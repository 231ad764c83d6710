//! The bootstrap extension (CSE): its result, and the message that Azure keeps of it.

use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::cse_report::{KEPT_BYTES, end_of, report};
use crate::azure::state::stamp;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct Cse {
    pub exit_code: i32,
    /// Seconds until they end; none if they never end.
    pub seconds: Option<u64>,
    pub output: String,
    pub error: String,
    /// Version of the extension's handler, which decides the message's form.
    pub handler: String,
    /// The kubelet starts afterwards; after a failed bootstrap it never does.
    pub registers: bool,
    pub join: Join,
    pub guest: Guest,
    /// Actual output of the command, if one ran; otherwise the streams are generated from the other fields.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub printed: Option<CseOutput>,
}

/// Result of a kubelet's registration.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Join {
    #[default]
    Ready,
    NeverReady,
    /// The Node never gets a provider id, so Karpenter does not find it.
    NoProviderId,
    CsrDenied,
    CsrPending,
}

impl Join {
    pub(crate) fn has_node(self) -> bool {
        !matches!(self, Self::CsrDenied | Self::CsrPending)
    }
}

/// State of a VM, apart from its bootstrap.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Guest {
    #[default]
    Ready,
    /// It runs, and its agent has never reported.
    Silent,
    /// It runs, and shows no agent at all.
    NoAgent,
    /// It does not run.
    Stopped,
}

impl Guest {
    /// Returns the instance view of the VM without its extensions.
    pub(crate) fn instance_view(self, time: &str) -> Value {
        let power = match self {
            Self::Ready | Self::Silent | Self::NoAgent => ("PowerState/running", "VM running"),
            Self::Stopped => ("PowerState/stopped", "VM stopped"),
        };
        let agent = if self == Self::Ready {
            json!({
                "vmAgentVersion": "2.15.0.1",
                "statuses": [{"code": "ProvisioningState/succeeded", "level": "Info", "displayStatus": "Ready", "message": "Guest Agent is running", "time": time}],
            })
        } else {
            json!({
                "vmAgentVersion": "Unknown",
                "statuses": [{"code": "ProvisioningState/Unavailable", "level": "Warning", "displayStatus": "Not Ready", "message": "VM status blob is found but not yet populated.", "time": time}],
            })
        };
        let mut view = json!({
            "vmAgent": agent,
            "statuses": [
                {"code": "ProvisioningState/succeeded", "level": "Info", "displayStatus": "Provisioning succeeded", "time": time},
                {"code": power.0, "level": "Info", "displayStatus": power.1},
            ],
        });
        if self == Self::NoAgent
            && let Some(members) = view.as_object_mut()
        {
            members.remove("vmAgent");
        }
        view
    }
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct CseOutput {
    /// Contains the node's report.
    pub stdout: String,
    pub stderr: String,
}

impl CseOutput {
    /// Returns the part that the extension's handler keeps: the end of each stream.
    fn carried(&self) -> String {
        let [stdout, stderr] =
            [&self.stdout, &self.stderr].map(|stream| end_of(stream, KEPT_BYTES));
        format!("\n[stdout]\n{stdout}\n[stderr]\n{stderr}")
    }
}

impl Default for Cse {
    fn default() -> Self {
        Self {
            exit_code: 0,
            seconds: Some(60),
            output: String::new(),
            error: String::new(),
            handler: "2.1.10".to_owned(),
            registers: true,
            join: Join::Ready,
            guest: Guest::Ready,
            printed: None,
        }
    }
}

impl Cse {
    fn report(&self, ended: Option<Timestamp>) -> String {
        let seconds = self.seconds.unwrap_or_default();
        let took = SignedDuration::from_secs(i64::try_from(seconds).unwrap_or_default());
        // The report has whole seconds.
        let began = ended.and_then(|ended| {
            let began = ended.checked_sub(took).ok()?;
            Timestamp::from_second(began.as_second()).ok()
        });
        report(self.exit_code, &self.output, &self.error, seconds, began)
    }

    /// Returns a bootstrap that fails because the image has no `oras`, and reports a network timeout.
    pub fn oras_missing() -> Self {
        Self {
            exit_code: 211,
            seconds: Some(75),
            output: ORAS_MISSING.to_owned(),
            error: String::new(),
            ..Self::default()
        }
    }

    pub(crate) fn succeeds(&self) -> bool {
        self.exit_code == 0 && self.registers && self.guest == Guest::Ready
    }

    /// Returns the message without times.
    pub fn message(&self) -> String {
        self.message_at(None)
    }

    /// Returns the message of an extension that ended at this time.
    pub(crate) fn message_at(&self, ended: Option<Timestamp>) -> String {
        let streams = match &self.printed {
            Some(printed) => printed.carried(),
            None => CseOutput { stdout: self.report(ended), stderr: String::new() }.carried(),
        };
        if self.exit_code == 0 {
            return format!("Enable succeeded: {streams}");
        }
        let what = format!(
            "failed to execute command: command terminated with exit status={}",
            self.exit_code
        );
        if self.is_new_handler() {
            // Since 2.1.17 the message has no prefix, and the error is repeated at the end.
            format!("{what}{streams}: {what}")
        } else {
            format!("Enable failed: {what}{streams}")
        }
    }

    pub(crate) fn file(&self) -> String {
        self.printed.as_ref().map_or_else(|| self.report(None), |printed| printed.stdout.clone())
    }

    fn is_new_handler(&self) -> bool {
        let mut parts = self.handler.split('.').map(|part| part.parse::<u32>().unwrap_or_default());
        let mut next = || parts.next().unwrap_or_default();
        (next(), next(), next()) >= (2, 1, 17)
    }

    /// Returns the extension's instance view: while it runs, or after its end.
    pub(crate) fn instance_view(&self, name: &str, ended: Option<Timestamp>) -> Value {
        let message = || self.message_at(ended);
        let status = match (ended.map(stamp), self.exit_code) {
            (None, _) => json!({
                "code": "ProvisioningState/transitioning", "level": "Info",
                "displayStatus": "Transitioning", "message": "Plugin enabled",
            }),
            (Some(time), 0) => json!({
                "code": "ProvisioningState/succeeded", "level": "Info",
                "displayStatus": "Provisioning succeeded", "message": message(), "time": time,
            }),
            (Some(time), _) => json!({
                "code": "ProvisioningState/failed/0", "level": "Error",
                "displayStatus": "Provisioning failed", "message": message(), "time": time,
            }),
        };
        let mut view = json!({
            "name": name,
            "type": "Microsoft.Azure.Extensions.CustomScript",
            "typeHandlerVersion": self.handler,
            "statuses": [status],
        });
        if ended.is_some() && self.exit_code != 0 && self.is_new_handler() {
            view["substatuses"] = json!([{
                "code": "ComponentStatus/ErrorClarification/2", "level": "Info",
                "displayStatus": "ErrorClarification", "message": "2",
            }]);
        }
        view
    }
}

/// End of the trace of a bootstrap on an image without `oras`. Written for this model; the steps
/// are those of the scripts.
const ORAS_MISSING: &str = "\
+ logs_to_events AKS.CSE.setCPUArch setCPUArch
+ local task=AKS.CSE.setCPUArch
+ local 'startTime=@19.870'
+ setCPUArch
+ local 'endTime=@19.880'
+ logs_to_events AKS.CSE.orasLogin.oras_login_with_kubelet_identity oras_login_with_kubelet_identity
+ local task=AKS.CSE.orasLogin.oras_login_with_kubelet_identity
+ local 'startTime=@19.900'
+ oras_login_with_kubelet_identity
+ retrycmd_can_oras_ls_acr 10 5 mcr.azure.example/aks/components
+ for i in $(seq 1 $retries)
+ timeout 60 oras repo ls mcr.azure.example/aks/components --registry-config /etc/oras/config.yaml
timeout: failed to run command 'oras': No such file or directory
+ sleep 5
+ '[' 10 -eq 10 ']'
+ echo 'failed to reach the registry after 10 retries'
failed to reach the registry after 10 retries
+ return 1
+ exit 211
";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_handler_decides_the_form_of_a_failure() {
        let old = Cse::oras_missing();
        let new = Cse { handler: "2.1.17".to_owned(), ..old.clone() };
        let what = "failed to execute command: command terminated with exit status=211";
        assert!(old.message().starts_with(&format!("Enable failed: {what}\n[stdout]\n{{")));
        assert!(new.message().starts_with(&format!("{what}\n[stdout]\n{{")));
        assert!(new.message().ends_with(&format!(": {what}")));
        assert!(old.message().contains(r#""ExitCode": "211""#));
        assert!(old.message().contains("'oras': No such file or directory"));
    }

    #[test]
    fn command_output_is_kept_up_to_the_window() {
        let stdout = format!("{}é{{\"ExitCode\":\"50\"}}\n", "x".repeat(4096));
        let printed = CseOutput { stdout, stderr: "it failed\n".to_owned() };
        let cse = Cse { exit_code: 50, printed: Some(printed), ..Cse::default() };
        let message = cse.message();
        assert!(message.contains("é{\"ExitCode\":\"50\"}\n\n[stderr]\nit failed\n"), "{message}");
        let streams = message.split_once("[stdout]\n").unwrap().1;
        let stdout = streams.split_once("\n[stderr]").unwrap().0;
        assert_eq!(stdout.len(), 4096);
    }

    #[test]
    fn success_message_has_both_streams() {
        assert!(Cse::default().message().starts_with("Enable succeeded: \n[stdout]\n{"));
    }
}
