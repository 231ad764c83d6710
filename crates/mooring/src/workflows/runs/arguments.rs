//! Command-line flags.
#![allow(clippy::doc_markdown, reason = "these comments are the help text, which is not Markdown")]

use std::time::Duration;

use clap::Args;
use mooring_redact::shell_word;
use mooring_workflow::approval::ApprovalToken;
use mooring_workflow::store::NAMESPACE;

use crate::arguments::parse_duration;
use crate::output::failure::CommandFailure;

#[derive(Debug, Args)]
pub(crate) struct ApprovalArguments {
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

/// Limit of a dry run.
#[derive(Debug, Clone, Copy, Args)]
pub(crate) struct DryRunLimit {
    /// With --dry-run: give up after this time, such as 30s or 5m
    #[arg(long, value_name = "DURATION", requires = "dry_run", default_value = "2m", value_parser = parse_duration)]
    pub(crate) timeout: Duration,
}

impl ReadLimit {
    /// Awaits all reads of a command, which `service` answers; without a limit, those have their own.
    pub(crate) async fn apply<T>(
        limit: Option<Self>,
        service: &str,
        work: impl Future<Output = Result<T, CommandFailure>>,
    ) -> Result<T, CommandFailure> {
        let Some(limit) = limit else { return work.await };
        tokio::time::timeout(limit.timeout, work).await.unwrap_or_else(|_| Err(limit.late(service)))
    }

    /// Returns the error of a service that did not answer in time.
    pub(crate) fn late(self, service: &str) -> CommandFailure {
        CommandFailure::io(format!(
            "no answer from {service} within {}s\nhint: `--timeout` waits longer; `mooring doctor` shows what does not respond",
            self.timeout.as_secs()
        ))
    }

    /// Returns the end of a message.
    pub(crate) fn end(limit: Option<Self>) -> String {
        let end = |Self { timeout }| format!(", giving up after {}s", timeout.as_secs());
        limit.map(end).unwrap_or_default()
    }
}

#[derive(Debug, Args)]
pub(crate) struct JournalArgument {
    /// Journal: a ConfigMap, in namespace mooring-system by default
    #[arg(long, value_name = "configmap[/NAMESPACE]", default_value = "configmap")]
    journal: String,
}

impl Default for JournalArgument {
    fn default() -> Self {
        Self { journal: "configmap".to_owned() }
    }
}

impl JournalArgument {
    /// Returns the flag of a further command; empty for the default.
    pub(crate) fn repeated(&self) -> String {
        match self.journal.as_str() {
            "configmap" => String::new(),
            journal => format!(" --journal {}", shell_word(journal)),
        }
    }

    /// Returns the namespace of the journal.
    /// `config_map` is the name of the ConfigMap, `namespace` its namespace unless the flag has one.
    pub(crate) fn place(
        &self,
        config_map: &str,
        namespace: Option<&str>,
    ) -> Result<String, CommandFailure> {
        if self.journal == "configmap" {
            return Ok(namespace.unwrap_or(NAMESPACE).to_owned());
        }
        if let Some(named) = self.journal.strip_prefix("configmap/") {
            // The tag of a temporary pool has the form NAMESPACE/NAME.
            let (own, name) = named.split_once('/').unwrap_or((named, config_map));
            if name != config_map {
                return Err(CommandFailure::usage(format!(
                    "--journal configmap/{named} does not belong to this pool or profile\nhint: its journal is {config_map}; set --pool or --profile"
                )));
            }
            if namespace.is_some_and(|namespace| namespace != own) {
                return Err(CommandFailure::usage(format!(
                    "--journal configmap/{named} conflicts with --namespace\nhint: use only one of the two flags"
                )));
            }
            return Ok(own.to_owned());
        }
        Err(CommandFailure::usage(format!(
            "--journal {} is not a ConfigMap\nhint: `--journal configmap/NAMESPACE`; a run is stored in its cluster, and in no file",
            mooring_redact::identifier(&self.journal)
        )))
    }
}

/// Returns the flags of a further command that have a value.
pub(crate) fn repeated_flags<'a>(
    flags: impl IntoIterator<Item = (&'static str, Option<&'a str>)>,
) -> String {
    let word = |(flag, value)| Some(format!(" --{flag} {}", shell_word(value?)));
    flags.into_iter().filter_map(word).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn journal_is_a_config_map() {
        let place = |journal: &str, namespace: Option<&str>| {
            let argument = JournalArgument { journal: journal.to_owned() };
            let place = argument.place("repair-system", namespace);
            place.map_err(|failure| failure.text().lines().next().unwrap().to_owned())
        };
        let map = |namespace: &str| Ok(namespace.to_owned());
        assert_eq!(place("configmap", None), map(NAMESPACE));
        assert_eq!(place("configmap", Some("ops")), map("ops"));
        assert_eq!(place("configmap/ops", None), map("ops"));
        assert_eq!(place("configmap/ops", Some("ops")), map("ops"));
        assert_eq!(place("configmap/ops/repair-system", None), map("ops"));
        let conflict = "--journal configmap/ops conflicts with --namespace";
        assert_eq!(place("configmap/ops", Some("x")), Err(conflict.to_owned()));
        let other = "--journal configmap/ops/repair-user does not belong to this pool or profile"
            .to_owned();
        assert_eq!(place("configmap/ops/repair-user", None), Err(other));
        for file in ["/tmp/journal", "file//tmp/journal"] {
            assert_eq!(place(file, None), Err(format!("--journal {file} is not a ConfigMap")));
        }
    }

    #[test]
    fn flag_of_a_journal_is_repeated() {
        let repeated = |journal: &str| JournalArgument { journal: journal.to_owned() }.repeated();
        assert_eq!(repeated("configmap"), "");
        assert_eq!(repeated("a b"), " --journal 'a b'");
    }

    #[tokio::test]
    async fn limit_ends_a_read_with_its_time() {
        let limit = |timeout| Some(ReadLimit { timeout });
        let never = std::future::pending::<Result<(), CommandFailure>>();
        let late = ReadLimit::apply(limit(Duration::ZERO), "x", never).await.unwrap_err();
        assert!(late.text().starts_with("no answer from x within 0s\nhint: "), "{}", late.text());
        assert_eq!(ReadLimit::apply(None, "x", async { Ok(7) }).await.ok(), Some(7));
        assert_eq!(ReadLimit::end(limit(Duration::from_secs(90))), ", giving up after 90s");
        assert_eq!(ReadLimit::end(None), "");
    }
}
