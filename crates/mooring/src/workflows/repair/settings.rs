//! Settings from flags and environment variables.

use jiff::SignedDuration;
use mooring_repair::names::config_map;
use mooring_repair::settings::{PoolTarget, Settings};
use mooring_repair::signatures::Signatures;

use super::arguments::{
    DEFAULT_POOL, DetectionArguments, PolicyArguments, RepairArguments, TargetArguments, positive,
    sign_policy,
};
use super::context::ContextCluster;
use crate::cluster::{NamedCluster, connect};
use crate::output::failure::CommandFailure;
use crate::output::show::print_warning;
use crate::process::env_var;

/// The cluster of a context, then flags, take precedence over environment variables. Variables that a command does not
/// evaluate may be invalid.
pub(crate) fn settings(
    target: &TargetArguments,
    detection: Option<&DetectionArguments>,
    policies: Option<&PolicyArguments>,
    context: Option<&ContextCluster>,
) -> Result<Settings, CommandFailure> {
    let of_context = context.map(ContextCluster::name);
    let named = connect::named_cluster(of_context.as_ref().unwrap_or(&target.name), None);
    let mut settings =
        Settings::new(pool_target(named, target.pool(), |flag| format!("or pass {flag}"))?);
    settings.journal =
        target.journal.place(&config_map(target.pool()), target.namespace.as_deref())?;
    if let Some(detection) = detection {
        set_detection(&mut settings, Some(detection))?;
        for state in &detection.wedge_states {
            settings.add_wedge_state(state.trim()).map_err(CommandFailure::usage)?;
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
        settings.add_override(text).map_err(CommandFailure::usage)?;
    }
    Ok(settings)
}

/// Returns the settings of `--pipeline`, whose cluster only variables name.
pub(crate) fn of_pipeline(arguments: &RepairArguments) -> Result<Settings, CommandFailure> {
    let named = NamedCluster {
        subscription: variable("SUBSCRIPTION_ID"),
        resource_group: variable("RESOURCE_GROUP"),
        cluster: variable("CLUSTER_NAME"),
        node_resource_group: None,
    };
    let hint = |_: &str| "set it as an environment variable".to_owned();
    let mut settings = Settings::new(pool_target(named, DEFAULT_POOL, hint)?);
    set_detection(&mut settings, None)?;
    settings.version = arguments.kubernetes_version;
    if let Some(namespace) = &arguments.namespace {
        settings.journal.clone_from(namespace);
    }
    Ok(settings)
}

fn pool_target(
    named: NamedCluster,
    pool: &str,
    hint: impl Fn(&str) -> String,
) -> Result<PoolTarget, CommandFailure> {
    let required = |value: Option<String>, name: &str, flag: &str| {
        let value = value.map(|value| value.trim().to_owned()).filter(|value| !value.is_empty());
        let missing = || CommandFailure::usage(format!("{name} is not set\nhint: {}", hint(flag)));
        value.ok_or_else(missing)
    };
    // The order determines which missing name is reported.
    let cluster = required(named.cluster, "CLUSTER_NAME", "--cluster NAME")?;
    let resource_group = required(named.resource_group, "RESOURCE_GROUP", "--resource-group NAME")?;
    let subscription = required(named.subscription, "SUBSCRIPTION_ID", "--subscription ID")?;
    Ok(PoolTarget { subscription, resource_group, cluster, pool: pool.to_owned() })
}

/// Sets what shows a wedge: by flags, then by variables.
fn set_detection(
    settings: &mut Settings,
    flags: Option<&DetectionArguments>,
) -> Result<(), CommandFailure> {
    let threshold = flags.and_then(|flags| flags.fail_threshold);
    let threshold = or_variable(threshold, "NRP_FAIL_THRESHOLD", "--fail-threshold", positive)?;
    let window = flags.and_then(|flags| flags.fail_window);
    let window = or_variable(window, "NRP_FAIL_WINDOW_MIN", "--fail-window", positive)?;
    let signs = flags.and_then(|flags| flags.signs);
    let signs = or_variable(signs, "MOORING_SIGNS", "--signs", sign_policy)?;
    settings.set_detection(threshold, window, signs);
    if let Some(why) = settings.unreachable_threshold() {
        print_warning(&why);
    }
    let file = flags.and_then(|flags| flags.signatures.clone());
    read_signatures(settings, file.or_else(|| env_var(SIGNATURES)).as_deref())
}

/// Returns a variable; an empty one is unset.
fn variable(name: &str) -> Option<String> {
    env_var(name).map(|value| value.trim().to_owned()).filter(|value| !value.is_empty())
}

/// Returns the value of a flag, else that of its variable.
fn or_variable<T>(
    value: Option<T>,
    name: &str,
    flag: &str,
    parse: fn(&str) -> Result<T, &'static str>,
) -> Result<Option<T>, CommandFailure> {
    let (None, Some(text)) = (&value, variable(name)) else { return Ok(value) };
    parse(&text).map(Some).map_err(|why| {
        let text = mooring_redact::identifier(&text);
        CommandFailure::usage(format!("{name} ({flag}) {why}, not '{text}'"))
    })
}

/// Environment variable of `--signatures`.
const SIGNATURES: &str = "MOORING_SIGNATURES";

fn read_signatures(settings: &mut Settings, file: Option<&str>) -> Result<(), CommandFailure> {
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

#[cfg(test)]
mod tests {
    use std::num::NonZeroU32;

    use clap::Parser;
    use mooring_repair::settings::{BudgetPolicy, SignPolicy, VersionPolicy};

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
        assert_eq!(usual.journal, "mooring-system");
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
        assert_eq!(own.journal, "ops");
        let window = SignedDuration::from_mins(90);
        assert_eq!((own.fail_threshold, own.fail_window), (7, window));
        assert_eq!(own.wedge_states, ["Failed", "Canceled", "Updating"]);
        assert_eq!(own.overrides["recreations"], "known");
        assert_eq!((own.version, own.budgets), (VersionPolicy::ControlPlane, BudgetPolicy::Stop));
        assert_eq!(own.limits.overall, SignedDuration::from_mins(30));
        assert_eq!(own.limits.poll, SignedDuration::from_secs(9));
        for words in [
            &["--override", "nosuch=x"][..],
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
        let all = || ["c", "g", "s"].map(|name| Some(name.to_owned()));
        for (at, name, hint) in [
            (0, "CLUSTER_NAME", "or pass --cluster NAME"),
            (1, "RESOURCE_GROUP", "or pass --resource-group NAME"),
            (2, "SUBSCRIPTION_ID", "or pass --subscription ID"),
        ] {
            for missing in [None, Some(" ".to_owned())] {
                let mut parts = all();
                parts[at] = missing;
                let [cluster, resource_group, subscription] = parts;
                let named = NamedCluster {
                    subscription,
                    resource_group,
                    cluster,
                    ..NamedCluster::default()
                };
                let failure =
                    pool_target(named, "p", |flag| format!("or pass {flag}")).unwrap_err();
                assert_eq!(failure.text(), format!("{name} is not set\nhint: {hint}"));
            }
        }
    }

    #[test]
    fn numbers_and_signs_are_typed() {
        assert_eq!(positive("25").map(NonZeroU32::get), Ok(25));
        for text in ["", "abc", "0", "-5", "1.5", "4294967296"] {
            assert_eq!(positive(text), Err("must be a whole number from 1 to 4294967295"));
        }
        assert_eq!(sign_policy("direct"), Ok(SignPolicy::Direct));
        assert_eq!(sign_policy("writes"), Ok(SignPolicy::Writes));
        assert_eq!(sign_policy("any"), Err("must be direct or writes"));
    }
}
