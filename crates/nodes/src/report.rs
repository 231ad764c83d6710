//! The report on one node.

use mooring_redact::{is_plain_word, shell_word};

use crate::claim::image;
use crate::verdict::{ConditionReason, ConditionStatus, Failure, Verdict};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReportSource {
    Azure,
    /// The node itself, read with a Run Command.
    Node,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NodeReport {
    pub node: String,
    pub claim: Option<String>,
    pub pool: Option<String>,
    pub image: Option<String>,
    /// None if unknown.
    pub joined: Option<bool>,
    pub cse_succeeded: bool,
    pub verdict: Verdict,
    pub source: ReportSource,
    /// Failure of an earlier attempt on the same node: before a reboot or a reimage.
    pub earlier: Option<Failure>,
}

impl NodeReport {
    /// Returns true if the bootstrap failed, or finished without a Node.
    pub fn is_failed(&self) -> bool {
        let over = matches!(
            self.verdict.reason,
            ConditionReason::CseSucceeded
                | ConditionReason::NoCseExtension
                | ConditionReason::CseNotCreated
        );
        self.verdict.status() == ConditionStatus::False
            || self.is_unconfirmed()
            || (over && self.joined == Some(false))
    }

    pub fn is_unconfirmed(&self) -> bool {
        self.verdict.failure.as_ref().is_some_and(|failure| !failure.is_confirmed())
    }

    pub fn message(&self) -> String {
        let message = &self.verdict.message;
        match (self.verdict.reason, self.joined) {
            (ConditionReason::CseSucceeded | ConditionReason::NoCseExtension, Some(true)) => {
                format!("The node has joined. {message}")
            }
            (ConditionReason::CseSucceeded, Some(false)) => format!(
                "{message} No Node registered: kubelet is not running, or cannot reach or authenticate to the API server."
            ),
            _ => message.clone(),
        }
    }

    /// Returns the next command to run, complete with the resource group of the VM. Names are quoted for a shell; an image that is not a single plain
    /// word is omitted.
    pub fn next(&self, subject: &str, resource_group: Option<&str>) -> Option<String> {
        let failure = self.verdict.failure.as_ref();
        let image = self.image.as_deref().map(image::version).filter(|image| is_plain_word(image));
        let image = image.map_or_else(String::new, |image| format!(" --image {image}"));
        let subject = shell_word(subject);
        match (self.verdict.reason, failure) {
            (_, Some(Failure { code: Some(code), effective, .. })) => {
                let code = effective.as_ref().map_or(*code, |(code, _)| *code);
                Some(format!("mooring explain {code}{image}"))
            }
            _ if self.cse_succeeded && self.joined == Some(false) => Some(format!(
                "az vm run-command invoke --resource-group {} --name {} --command-id RunShellScript --scripts 'journalctl -u kubelet | tail -50'",
                shell_word(resource_group?),
                shell_word(&self.node)
            )),
            (ConditionReason::NoCseExtension | ConditionReason::NodeNotRegistered, _)
                if self.source == ReportSource::Azure && self.joined != Some(true) =>
            {
                Some(format!("mooring why {subject} --run-command"))
            }
            (ConditionReason::CseRunning, _) => Some(format!("mooring why {subject}")),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn report(reason: ConditionReason, joined: Option<bool>) -> NodeReport {
        NodeReport {
            node: "aks-c".to_owned(),
            claim: Some("c".to_owned()),
            pool: None,
            image: None,
            joined,
            cse_succeeded: reason == ConditionReason::CseSucceeded,
            verdict: Verdict::plain(reason, "words"),
            source: ReportSource::Azure,
            earlier: None,
        }
    }

    #[test]
    fn finished_bootstrap_without_a_node_is_a_failure() {
        use ConditionReason::*;
        for (reason, joined, failed) in [
            (CseSucceeded, Some(true), false),
            (CseSucceeded, Some(false), true),
            (CseSucceeded, None, false),
            (NoCseExtension, Some(true), false),
            (NoCseExtension, Some(false), true),
            (CseNotCreated, Some(false), true),
            (CseRunning, Some(false), false),
            (CseStatusUnavailable, Some(false), false),
            (CseFailed, Some(true), true),
            (CseTimedOut, None, true),
            (NodeNotRegistered, Some(false), true),
        ] {
            assert_eq!(report(reason, joined).is_failed(), failed, "{reason} {joined:?}");
        }
    }

    #[test]
    fn message_names_whether_the_node_has_joined() {
        let joined = "The node has joined. words";
        for (reason, has_joined, starts, source) in [
            (ConditionReason::CseSucceeded, Some(true), joined, ReportSource::Azure),
            (ConditionReason::NoCseExtension, Some(true), joined, ReportSource::Azure),
            (ConditionReason::CseRunning, Some(true), "words", ReportSource::Azure),
            (
                ConditionReason::CseSucceeded,
                Some(false),
                "words No Node registered: ",
                ReportSource::Azure,
            ),
            (
                ConditionReason::CseSucceeded,
                Some(false),
                "words No Node registered: ",
                ReportSource::Node,
            ),
            (ConditionReason::CseSucceeded, None, "words", ReportSource::Azure),
        ] {
            let message = NodeReport { source, ..report(reason, has_joined) }.message();
            assert!(message.starts_with(starts), "{message}");
            assert_eq!(message == "words", starts == "words", "{message}");
        }
    }

    #[test]
    fn next_command_depends_on_the_reason() {
        let next =
            |reason, joined| report(reason, joined).next("c", Some("rg")).unwrap_or_default();
        let command = next(ConditionReason::CseSucceeded, Some(false));
        assert!(command.starts_with("az vm run-command invoke --resource-group rg --name aks-c "));
        assert!(command.contains("journalctl -u kubelet"));
        let unnamed = report(ConditionReason::CseSucceeded, Some(false)).next("c", None);
        assert_eq!(unnamed, None, "a command without its resource group fails");
        assert_eq!(next(ConditionReason::CseSucceeded, Some(true)), "");
        assert_eq!(
            next(ConditionReason::NodeNotRegistered, Some(false)),
            "mooring why c --run-command"
        );
        assert_eq!(next(ConditionReason::NoCseExtension, Some(true)), "");
        assert_eq!(next(ConditionReason::CseRunning, Some(false)), "mooring why c");
        assert_eq!(next(ConditionReason::NodeNotRegistered, None), "mooring why c --run-command");
        assert_eq!(
            next(ConditionReason::NoCseExtension, Some(false)),
            "mooring why c --run-command"
        );
        assert_eq!(next(ConditionReason::CseStatusUnavailable, Some(false)), "");
        assert_eq!(next(ConditionReason::CseSucceeded, None), "");
        let read = NodeReport {
            source: ReportSource::Node,
            ..report(ConditionReason::NoCseExtension, Some(false))
        };
        assert_eq!(read.next("c", None), None, "the node has been read");
    }
}
