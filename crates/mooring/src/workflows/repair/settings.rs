//! Settings from flags and environment variables.

use jiff::SignedDuration;
use mooring_arm::ResourceId;
use mooring_repair::names::config_map;
use mooring_repair::settings::{Settings, SettingsError};
use mooring_repair::signatures::Signatures;

use super::arguments::{DetectionArguments, PolicyArguments, TargetArguments};
use super::context::ContextCluster;
use crate::output::failure::CommandFailure;
use crate::output::show::print_warning;
use crate::process::env_var;

/// The cluster of a context, then flags, take precedence over environment variables.
pub(crate) fn settings(
    target: &TargetArguments,
    detection: Option<&DetectionArguments>,
    policies: Option<&PolicyArguments>,
    context: Option<&ContextCluster>,
) -> Result<Settings, CommandFailure> {
    let environment = env_var;
    let of_context = context.map(ContextCluster::name);
    let name = of_context.as_ref().unwrap_or(&target.name);
    let named = |flag: &Option<String>, variable: &str| {
        flag.clone().or_else(|| environment(variable).filter(|value| !value.is_empty()))
    };
    let cluster = named(&name.cluster, "MOORING_CLUSTER");
    let id = cluster.as_ref().and_then(|cluster| ResourceId::parse(cluster).ok());
    let of_id =
        |part: fn(&ResourceId) -> Option<&str>| id.as_ref().and_then(part).map(str::to_owned);
    let flag = |variable: &str| match variable {
        "SUBSCRIPTION_ID" => of_id(|id| Some(id.subscription()))
            .or_else(|| named(&name.subscription, "MOORING_SUBSCRIPTION"))
            .or_else(|| environment(variable))
            .or_else(|| environment("AZURE_SUBSCRIPTION_ID")),
        "RESOURCE_GROUP" => of_id(ResourceId::resource_group)
            .or_else(|| named(&name.resource_group, "MOORING_RESOURCE_GROUP")),
        "CLUSTER_NAME" => of_id(|id| Some(id.name())).or_else(|| cluster.clone()),
        "NRP_FAIL_THRESHOLD" => detection.and_then(|detection| detection.fail_threshold.clone()),
        "NRP_FAIL_WINDOW_MIN" => detection.and_then(|detection| detection.fail_window.clone()),
        SIGNS => detection.and_then(|detection| detection.signs.clone()),
        _ => None,
    };
    // Invalid values do not stop a command that does not evaluate them.
    let applies = |name: &str| detection.is_some() || !(name.starts_with("NRP_") || name == SIGNS);
    let variable = |name: &str| environment(name).filter(|_| applies(name));
    let mut settings = Settings::from_env(|name| flag(name).or_else(|| variable(name)))
        .map_err(|error| usage(&error))?;
    warn_of_threshold(&settings);
    target.pool().clone_into(&mut settings.target.pool);
    settings.journal =
        target.journal.place(&config_map(target.pool()), target.namespace.as_deref())?;
    if let Some(detection) = detection {
        let file = detection.signatures.clone().or_else(|| environment(SIGNATURES));
        read_signatures(&mut settings, file.as_deref())?;
        for state in &detection.wedge_states {
            settings.add_wedge_state(state.trim()).map_err(|error| usage(&error))?;
        }
    }
    if let Some(policies) = policies {
        settings.version = policies.kubernetes_version;
        settings.budgets.clone_from(&policies.budgets);
        settings.limits.overall = SignedDuration::from_mins(policies.deadline.into());
        settings.limits.poll = SignedDuration::from_secs(policies.poll.into());
    }
    // After the policies, since `pdb` can be overridden.
    for text in detection.iter().flat_map(|detection| &detection.overrides) {
        settings.add_override(text).map_err(|error| usage(&error))?;
    }
    Ok(settings)
}

/// Warns of a threshold that cannot be reached.
pub(crate) fn warn_of_threshold(settings: &Settings) {
    if let Some(why) = settings.unreachable_threshold() {
        print_warning(&why);
    }
}

const SIGNS: &str = "MOORING_SIGNS";

/// Environment variable of `--signatures`.
pub(crate) const SIGNATURES: &str = "MOORING_SIGNATURES";

pub(crate) fn read_signatures(
    settings: &mut Settings,
    file: Option<&str>,
) -> Result<(), CommandFailure> {
    let Some(file) = file.map(str::trim).filter(|file| !file.is_empty()) else { return Ok(()) };
    let text = std::fs::read_to_string(file).map_err(|error| {
        let file = mooring_redact::identifier(file);
        CommandFailure::usage(format!(
            "cannot read signatures from {file}: {error}\nhint: set --signatures or {SIGNATURES} to a YAML file (docs/RUNBOOK.md)"
        ))
    })?;
    settings.signatures = Signatures::parse(file, &text).map_err(|error| {
        CommandFailure::usage(format!("{error}\nhint: docs/RUNBOOK.md describes the file"))
    })?;
    Ok(())
}

fn usage(error: &SettingsError) -> CommandFailure {
    let hint = match error {
        SettingsError::Missing("CLUSTER_NAME") => "\nhint: or pass --cluster NAME",
        SettingsError::Missing("RESOURCE_GROUP") => "\nhint: or pass --resource-group NAME",
        SettingsError::Missing(_) => "\nhint: or pass --subscription ID",
        _ => "",
    };
    CommandFailure::usage(format!("{error}{hint}"))
}

#[cfg(test)]
mod tests {
    use clap::Parser;
    use mooring_repair::settings::{BudgetPolicy, VersionPolicy};
    use mooring_workflow::store::JournalPlace;

    use super::*;

    #[derive(Parser)]
    struct Flags {
        #[command(flatten)]
        target: TargetArguments,
        #[command(flatten)]
        detection: DetectionArguments,
        #[command(flatten)]
        policies: PolicyArguments,
    }

    const ID: &str = "/subscriptions/s2/resourceGroups/g2/providers/Microsoft.ContainerService/managedClusters/c2";

    fn read(words: &[&str]) -> Result<Settings, CommandFailure> {
        let named = ["x", "--subscription", "s", "--resource-group", "g"];
        let Flags { target, detection, policies } = Flags::parse_from([&named[..], words].concat());
        settings(&target, Some(&detection), Some(&policies), None)
    }

    #[test]
    fn flags_are_the_settings() {
        let target = |settings: &Settings| {
            let target = settings.target.clone();
            [target.subscription, target.resource_group, target.cluster, target.pool].join(" ")
        };
        let usual = read(&["--cluster", "c"]).unwrap();
        assert_eq!(target(&usual), "s g c system");
        assert_eq!(usual.journal, JournalPlace::ConfigMap("mooring-system".to_owned()));
        assert_eq!((usual.version, usual.budgets), (VersionPolicy::Keep, BudgetPolicy::Wait));
        let words = [
            "--cluster",
            ID,
            "--pool",
            "user",
            "--namespace",
            "ops",
            "--fail-threshold",
            "7",
            "--fail-window",
            "90",
            "--wedge-states",
            "Canceled, Updating",
            "--override",
            "recreations=known",
            "--kubernetes-version",
            "control-plane",
            "--budgets",
            "stop",
            "--deadline",
            "30",
            "--poll",
            "9",
        ];
        let own = read(&words).unwrap();
        assert_eq!(target(&own), "s2 g2 c2 user", "the parts of the id");
        assert_eq!(own.journal, JournalPlace::ConfigMap("ops".to_owned()));
        let window = SignedDuration::from_mins(90);
        assert_eq!((own.fail_threshold, own.fail_window), (7, window));
        assert_eq!(own.wedge_states, ["Failed", "Canceled", "Updating"]);
        assert_eq!(own.overrides["recreations"], "known");
        assert_eq!((own.version, own.budgets), (VersionPolicy::ControlPlane, BudgetPolicy::Stop));
        assert_eq!(own.limits.overall, SignedDuration::from_mins(30));
        assert_eq!(own.limits.poll, SignedDuration::from_secs(9));
        for words in [
            &["--fail-threshold", "x"][..],
            &["--signs", "x"],
            &["--override", "nosuch=x"],
            &["--wedge-states", "Fine"],
            &["--signatures", "/nonexistent"],
        ] {
            let failure = read(&[&["--cluster", "c"], words].concat()).unwrap_err();
            assert_eq!(failure.code(), "usage", "{words:?}");
        }
        assert!(read(&["--cluster", "c", "--signatures", " "]).is_ok(), "no file");
    }

    #[test]
    fn missing_names_have_the_flag_as_a_hint() {
        for (name, hint) in [
            ("CLUSTER_NAME", "\nhint: or pass --cluster NAME"),
            ("RESOURCE_GROUP", "\nhint: or pass --resource-group NAME"),
            ("SUBSCRIPTION_ID", "\nhint: or pass --subscription ID"),
        ] {
            let failure = usage(&SettingsError::Missing(name));
            assert_eq!(failure.text(), format!("{name} is not set{hint}"));
        }
        assert!(!usage(&SettingsError::NoReason("pdb".to_owned())).text().contains("hint"));
    }
}
