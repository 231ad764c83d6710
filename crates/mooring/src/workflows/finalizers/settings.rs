//! Settings from flags and environment variables.

use jiff::SignedDuration;
use mooring_finalizers::profile::Settings;
use mooring_finalizers::profile::{Profile, Release, ReleaseResources};

use super::arguments::{Override, PolicyArguments, TargetArguments, parse_timeout};
use crate::output::failure::CommandFailure;
use crate::workflows::runs::write;

const TIMEOUT: &str = "PKO_CLEANUP_TIMEOUT";

pub(crate) fn settings(
    target: &TargetArguments,
    policy: Option<&PolicyArguments>,
) -> Result<Settings, CommandFailure> {
    let mut settings = Settings::new(profile(target)?);
    settings.journal = target.journal.place(&settings.profile.config_map(), None)?;
    let namespace = &settings.journal;
    if settings.profile.namespace.as_ref() == Some(namespace) {
        return Err(CommandFailure::usage(format!(
            "the journal cannot be in namespace {namespace}, which is removed\nhint: `--journal configmap/NAMESPACE`"
        )));
    }
    if let Some(policy) = policy {
        settings.scale_down = policy.scale_down;
        settings.best_effort = policy.best_effort;
        let overrides = policy.overrides.iter();
        settings.overrides =
            overrides.map(|Override { what, reason }| (what.clone(), reason.clone())).collect();
    }
    Ok(settings)
}

fn profile(target: &TargetArguments) -> Result<Profile, CommandFailure> {
    let Some(group) = &target.group else { return named(&target.profile) };
    let mut profile = Profile::of_group(group);
    profile.namespace.clone_from(&target.namespace);
    profile.cluster_role_bindings.clone_from(&target.bindings);
    profile.release = target.release.clone().map(|name| Release {
        name,
        namespace: None,
        resources: ReleaseResources::Keep,
    });
    if !target.finalizers.is_empty() {
        profile.finalizers = vec![format!("{group}/*")];
        profile.finalizers.extend(target.finalizers.iter().cloned());
    }
    profile.checked().map_err(CommandFailure::usage)
}

/// Returns a built-in profile by name, or reads a file.
fn named(wanted: &str) -> Result<Profile, CommandFailure> {
    let read = if wanted.contains(['/', '.']) {
        let text = std::fs::read_to_string(wanted)
            .map_err(|error| CommandFailure::io(format!("cannot read {wanted}: {error}")))?;
        Profile::parse(wanted, &text)
    } else {
        Profile::named(wanted)
    };
    read.map_err(|error| CommandFailure::usage(error.to_string()))
}

/// Returns the deadline: flag, else variable, else default. An invalid variable is a warning, so that it does not stop a
/// pipeline.
pub(crate) fn timeout(
    flag: Option<SignedDuration>,
    environment: impl Fn(&str) -> Option<String>,
    usual: SignedDuration,
) -> SignedDuration {
    let variable = || environment(TIMEOUT).filter(|text| !text.is_empty());
    let of_variable = |text: String| {
        parse_timeout(&text).unwrap_or_else(|_| {
            let text = mooring_redact::identifier(&text);
            write(&format!(
                "warning: invalid value '{text}' for {TIMEOUT}: not a duration; using {}s\n",
                usual.as_secs()
            ));
            usual
        })
    };
    flag.or_else(|| variable().map(of_variable)).unwrap_or(usual)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(clap::Parser)]
    struct Flags {
        #[command(flatten)]
        target: TargetArguments,
    }

    #[test]
    fn finalizers_of_a_group_can_be_extended() {
        use clap::Parser as _;
        let read = |words: &[&str]| {
            let target = Flags::parse_from([&["x"], words].concat()).target;
            settings(&target, None).map(|settings| settings.profile)
        };
        let usual = read(&["--group", "example.com"]).unwrap();
        let more = read(&["--group", "example.com", "--finalizer", "other.io/x"]).unwrap();
        assert_eq!(more.finalizers, ["example.com/*", "other.io/x"]);
        assert_eq!(usual.finalizers, ["example.com/*"]);
        let words = ["--group", "example.com", "--namespace", "ops", "--journal", "configmap/ops"];
        let failure = read(&words).unwrap_err();
        assert!(failure.text().contains("which is removed"), "{}", failure.text());
        assert_eq!(read(&["--profile", "nosuch"]).unwrap_err().code(), "usage");
        assert_eq!(read(&["--profile", "/nonexistent"]).unwrap_err().code(), "io");
    }

    #[test]
    fn timeout_is_the_flag_then_the_variable_then_the_default() {
        let usual = SignedDuration::from_mins(10);
        let of = |flag: Option<&str>, variable: Option<&str>| {
            let flag = flag.map(|text| parse_timeout(text).unwrap());
            timeout(flag, |_| variable.map(str::to_owned), usual).as_secs()
        };
        assert_eq!(of(None, None), 600);
        assert_eq!(of(None, Some("")), 600);
        assert_eq!(of(None, Some("2m30s")), 150);
        assert_eq!(of(Some("1h"), Some("2m")), 3600);
        assert_eq!(of(None, Some("0")), 0);
        // An invalid variable is only a warning.
        assert_eq!(of(None, Some("soon")), 600);
        assert_eq!(of(None, Some("-5m")), 600);
        assert!(parse_timeout("soon").is_err());
    }
}
