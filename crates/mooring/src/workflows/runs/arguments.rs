//! Command-line flags.
#![allow(clippy::doc_markdown, reason = "these comments are the help text, which is not Markdown")]

use std::path::Path;
use std::time::Duration;

use clap::Args;
use mooring_workflow::approval::ApprovalToken;
use mooring_workflow::store::JournalPlace;
use mooring_workflow::store::NAMESPACE;

use crate::cli::cluster_args::parse_duration;
use crate::output::failure::Failure;

#[derive(Debug, Args)]
pub(crate) struct Approval {
    /// Skip the confirmation prompt; requires --plan-hash
    #[arg(long, requires = "plan_hash")]
    pub(crate) yes: bool,
    /// Hash of the approved plan, as printed by `plan` (field `hash` of `plan -o json`)
    ///
    /// It replaces typing the name. It is valid for one hour, and only while the current plan is the approved one.
    #[arg(long, value_name = "HASH")]
    pub(crate) plan_hash: Option<ApprovalToken>,
}

/// Limit of a command that changes nothing.
#[derive(Debug, Clone, Copy, Args)]
pub(crate) struct ReadLimit {
    /// Give up after this time, such as 30s or 5m
    #[arg(long, value_name = "DURATION", default_value = "2m", value_parser = parse_duration)]
    pub(crate) timeout: Duration,
}

impl ReadLimit {
    /// Awaits all reads of a command; without a limit, those have their own.
    pub(crate) async fn apply<T>(
        limit: Option<Self>,
        work: impl Future<Output = Result<T, Failure>>,
    ) -> Result<T, Failure> {
        let Some(Self { timeout }) = limit else { return work.await };
        tokio::time::timeout(timeout, work).await.unwrap_or_else(|_| {
            Err(Failure::io(format!(
                "no answer within {}s\nhint: `--timeout` waits longer; `mooring doctor` shows what does not respond",
                timeout.as_secs()
            )))
        })
    }

    /// Returns the end of a message.
    pub(crate) fn end(limit: Option<Self>) -> String {
        let end = |Self { timeout }| format!(", giving up after {}s", timeout.as_secs());
        limit.map(end).unwrap_or_default()
    }
}

#[derive(Debug, Args)]
pub(crate) struct JournalArgument {
    /// Journal: a ConfigMap (namespace mooring-system by default), or a file
    #[arg(long, value_name = "configmap[/NAMESPACE]|FILE", default_value = "configmap")]
    journal: String,
}

impl JournalArgument {
    /// Returns the flag of a further command; empty for the default.
    pub(crate) fn repeated(&self) -> String {
        match self.journal.as_str() {
            "configmap" => String::new(),
            journal => format!(" --journal {}", mooring_redact::shell_word(journal)),
        }
    }

    /// Returns the journal's place. Files have absolute paths, so that they are found from other directories.
    /// `config_map` is the name of the ConfigMap, `namespace` its namespace unless the flag has one.
    pub(crate) fn place(
        &self,
        config_map: &str,
        namespace: Option<&str>,
    ) -> Result<JournalPlace, Failure> {
        if self.journal == "configmap" {
            return Ok(JournalPlace::ConfigMap(namespace.unwrap_or(NAMESPACE).to_owned()));
        }
        if let Some(named) = self.journal.strip_prefix("configmap/") {
            // The tag of a temporary pool has the form NAMESPACE/NAME.
            let (own, name) = named.split_once('/').unwrap_or((named, config_map));
            if name != config_map {
                return Err(Failure::usage(format!(
                    "--journal configmap/{named} does not belong to this pool or profile\nhint: its journal is {config_map}; set --pool or --profile"
                )));
            }
            if namespace.is_some_and(|namespace| namespace != own) {
                return Err(Failure::usage(format!(
                    "--journal configmap/{named} conflicts with --namespace\nhint: use only one of the two flags"
                )));
            }
            return Ok(JournalPlace::ConfigMap(own.to_owned()));
        }
        let pointer = self.journal.strip_prefix("file/").filter(|path| path.starts_with('/'));
        let path = std::path::absolute(Path::new(pointer.unwrap_or(&self.journal)))
            .map_err(|error| Failure::usage(format!("--journal {}: {error}", self.journal)))?;
        let path = path.into_os_string().into_string();
        path.map(JournalPlace::File)
            .map_err(|_| Failure::usage("--journal: the path is not valid UTF-8".to_owned()))
    }
}
