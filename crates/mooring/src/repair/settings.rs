//! From flags and environment variables to settings.

use jiff::SignedDuration;
use mooring_repair::names::config_map;
use mooring_repair::settings::{BudgetPolicy, Settings, SettingsError};
use mooring_repair::signatures::Signatures;

use super::arguments::{Budgets, JudgingArguments, PolicyArguments, TargetArguments};
use crate::failure::Failure;

type Environment<'a> = &'a dyn Fn(&str) -> Option<String>;

/// Flags first, variables where there is no flag.
pub(crate) fn settings(
    target: &TargetArguments,
    judging: Option<&JudgingArguments>,
    policies: Option<&PolicyArguments>,
    environment: Environment<'_>,
) -> Result<Settings, Failure> {
    let flag = |name: &str| match name {
        "SUBSCRIPTION_ID" => {
            let flag = target.name.subscription.clone();
            flag.or_else(|| environment(name)).or_else(|| environment("AZURE_SUBSCRIPTION_ID"))
        }
        "RESOURCE_GROUP" => target.name.resource_group.clone(),
        "CLUSTER_NAME" => target.name.cluster.clone(),
        "NRP_FAIL_THRESHOLD" => judging.and_then(|judging| judging.fail_threshold.clone()),
        "NRP_FAIL_WINDOW_MIN" => judging.and_then(|judging| judging.fail_window.clone()),
        _ => None,
    };
    // What only judges a pool cannot stop a command that judges none.
    let heard = |name: &str| judging.is_some() || !name.starts_with("NRP_");
    let variable = |name: &str| environment(name).filter(|_| heard(name));
    let mut settings = Settings::from_env(|name| flag(name).or_else(|| variable(name)))
        .map_err(|error| usage(&error))?;
    settings.target.pool.clone_from(&target.pool);
    settings.journal =
        target.journal.place(&config_map(&target.pool), target.namespace.as_deref())?;
    if let Some(judging) = judging {
        let file = judging.signatures.clone().or_else(|| environment(SIGNATURES));
        read_signatures(&mut settings, file.as_deref())?;
        for state in &judging.wedge_states {
            settings.add_wedge_state(state.trim()).map_err(|error| usage(&error))?;
        }
    }
    if let Some(policies) = policies {
        settings.version = policies.kubernetes_version.into();
        settings.budgets = match policies.budgets {
            Budgets::Wait => BudgetPolicy::Wait,
            Budgets::Stop => BudgetPolicy::Stop,
        };
        settings.limits.overall = SignedDuration::from_mins(policies.deadline.into());
        settings.limits.poll = SignedDuration::from_secs(policies.poll.into());
    }
    // After the policies, since `budgets` can be overridden.
    go_over(
        &mut settings,
        judging.map(|judging| judging.overrides.as_slice()).unwrap_or_default(),
    )?;
    Ok(settings)
}

/// The variable that names the file of `--signatures`.
pub(crate) const SIGNATURES: &str = "MOORING_SIGNATURES";

/// Takes in the file of signatures, if one is named.
pub(crate) fn read_signatures(settings: &mut Settings, file: Option<&str>) -> Result<(), Failure> {
    let Some(file) = file.map(str::trim).filter(|file| !file.is_empty()) else { return Ok(()) };
    let text = std::fs::read_to_string(file).map_err(|error| {
        let file = mooring_redact::identifier(file);
        Failure::usage(format!(
            "read signatures from {file}: {error}\nhint: --signatures and {SIGNATURES} name a YAML file (docs/RUNBOOK.md)"
        ))
    })?;
    settings.signatures = Signatures::parse(file, &text).map_err(|error| {
        Failure::usage(format!("{error}\nhint: docs/RUNBOOK.md describes the file"))
    })?;
    Ok(())
}

/// Takes in what `--override` said.
pub(crate) fn go_over(settings: &mut Settings, overrides: &[String]) -> Result<(), Failure> {
    overrides.iter().try_for_each(|text| settings.add_override(text)).map_err(|error| usage(&error))
}

pub(crate) fn usage(error: &SettingsError) -> Failure {
    let hint = match error {
        SettingsError::Missing("CLUSTER_NAME") => "\nhint: --cluster NAME sets it, too",
        SettingsError::Missing("RESOURCE_GROUP") => "\nhint: --resource-group NAME sets it, too",
        SettingsError::Missing(_) => "\nhint: --subscription ID sets it, too",
        _ => "",
    };
    Failure::usage(format!("{error}{hint}"))
}
