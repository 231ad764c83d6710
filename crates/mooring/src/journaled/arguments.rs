//! Flags.
#![allow(clippy::doc_markdown, reason = "these comments are the help text, which is not Markdown")]

use std::path::Path;

use clap::Args;
use mooring_workflow::approval::ApprovalToken;
use mooring_workflow::store::JournalPlace;
use mooring_workflow::store::NAMESPACE;

use crate::failure::Failure;

/// That somebody wants this, and has seen what it is.
#[derive(Debug, Args)]
pub(crate) struct Approval {
    /// Ask nothing; needs the hash of the plan that was approved
    #[arg(long, requires = "plan_hash")]
    pub(crate) yes: bool,
    /// Hash of the approved plan, as `plan` prints it and `plan -o json` has it as `hash`; it is valid for one hour
    /// and for that plan only, and replaces typing the name
    #[arg(long, value_name = "HASH")]
    pub(crate) plan_hash: Option<ApprovalToken>,
}

#[derive(Debug, Args)]
pub(crate) struct JournalArgument {
    /// Where the journal is: a ConfigMap in the namespace mooring-system or another one, or a file
    #[arg(long, value_name = "configmap[/NAMESPACE]|FILE", default_value = "configmap")]
    journal: String,
}

impl JournalArgument {
    /// A file by its whole path, since the journal is found again by it from other folders; `config_map` is the name of the
    /// other kind, `namespace` where it is unless the flag names one.
    pub(crate) fn place(
        &self,
        config_map: &str,
        namespace: Option<&str>,
    ) -> Result<JournalPlace, Failure> {
        if self.journal == "configmap" {
            return Ok(JournalPlace::ConfigMap(namespace.unwrap_or(NAMESPACE).to_owned()));
        }
        if let Some(named) = self.journal.strip_prefix("configmap/") {
            // With a name it is the value of a temporary pool's tag.
            let (own, name) = named.split_once('/').unwrap_or((named, config_map));
            if name != config_map {
                return Err(Failure::usage(format!(
                    "--journal configmap/{named} is not of this pool or profile\nhint: --pool or --profile names it; its journal is {config_map}"
                )));
            }
            if namespace.is_some_and(|namespace| namespace != own) {
                return Err(Failure::usage(format!(
                    "--journal configmap/{named} is not in the namespace of --namespace\nhint: use one of the two flags"
                )));
            }
            return Ok(JournalPlace::ConfigMap(own.to_owned()));
        }
        let pointer = self.journal.strip_prefix("file/").filter(|path| path.starts_with('/'));
        let path = std::path::absolute(Path::new(pointer.unwrap_or(&self.journal)))
            .map_err(|error| Failure::usage(format!("--journal {}: {error}", self.journal)))?;
        let path = path.into_os_string().into_string();
        path.map(JournalPlace::File)
            .map_err(|_| Failure::usage("--journal must be a path in UTF-8".to_owned()))
    }
}
