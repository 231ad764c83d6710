//! Profile of the operator to remove, from a file or built in, and the settings of a removal.

use std::collections::BTreeMap;

use jiff::SignedDuration;
use mooring_workflow::store::NAMESPACE;
use serde::{Deserialize, Serialize};
use thiserror::Error;

const BUILT_IN: [(&str, &str); 1] =
    [("package-operator", include_str!("../profiles/package-operator.yaml"))];

/// Namespaces that are never deleted: those of Kubernetes, and that of the journal.
const PROTECTED: [&str; 5] =
    ["default", "kube-system", "kube-public", "kube-node-lease", NAMESPACE];

/// Resources of an operator.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Profile {
    /// Suffix of the journal's name.
    pub name: String,
    #[serde(default)]
    pub description: String,
    /// API groups, with their subgroups.
    #[serde(default)]
    pub groups: Vec<String>,
    /// Finalizers that may be removed, as names or `GROUP/*`. Defaults to those of the groups.
    #[serde(default)]
    pub finalizers: Vec<String>,
    /// Namespace of the operator, deleted last.
    #[serde(default)]
    pub namespace: Option<String>,
    #[serde(default)]
    pub cluster_role_bindings: Vec<String>,
    #[serde(default)]
    pub release: Option<Release>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Release {
    pub name: String,
    /// Namespace of its secrets; defaults to that of the profile.
    #[serde(default)]
    pub namespace: Option<String>,
    #[serde(default)]
    pub resources: ReleaseResources,
}

/// Policy for the objects of a release.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum ReleaseResources {
    /// They are kept, and reported.
    #[default]
    Keep,
    /// Those marked as part of the release are deleted.
    Delete,
}

#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum ProfileError {
    #[error("unknown profile `{0}`\nhint: use the built-in profile package-operator, or a file")]
    Unknown(String),
    #[error("{file} is not a profile: {why}")]
    Invalid { file: String, why: String },
}

impl Profile {
    pub fn named(name: &str) -> Result<Self, ProfileError> {
        let found = BUILT_IN.iter().find(|(known, _)| *known == name);
        let (name, text) = found.ok_or_else(|| ProfileError::Unknown(name.to_owned()))?;
        Self::parse(name, text)
    }

    /// Parses a profile; `file` is its name in errors.
    pub fn parse(file: &str, text: &str) -> Result<Self, ProfileError> {
        let invalid = |why: String| ProfileError::Invalid { file: file.to_owned(), why };
        let profile: Self = serde_saphyr::from_str(text)
            .map_err(|error| invalid(error.to_string().trim_start_matches("error: ").to_owned()))?;
        profile.checked().map_err(invalid)
    }

    /// Returns a profile of one API group.
    #[must_use]
    pub fn of_group(group: &str) -> Self {
        Self { name: group.replace('.', "-"), groups: vec![group.to_owned()], ..Self::default() }
    }

    /// Validates the profile and adds defaults.
    pub fn checked(mut self) -> Result<Self, String> {
        let label = |name: &str| {
            !name.is_empty()
                && name.len() <= 200
                && name.bytes().all(|byte| {
                    byte.is_ascii_lowercase() || byte.is_ascii_digit() || b"-.".contains(&byte)
                })
        };
        if !label(&self.name) {
            return Err("`name` must have lowercase letters, digits and dashes only".to_owned());
        }
        let is_group = |group: &str| label(group) && group.contains('.') && !group.starts_with('.');
        if let Some(bad) = self.groups.iter().find(|group| !is_group(group)) {
            let bad = mooring_redact::identifier(bad);
            return Err(format!("`{bad}` is not an API group such as example.com"));
        }
        let is_reserved = |group: &&String| {
            ["k8s.io", "kubernetes.io"].iter().any(|reserved| is_within(group, reserved))
        };
        if let Some(bad) = self.groups.iter().find(is_reserved) {
            return Err(format!("the group {bad} belongs to Kubernetes"));
        }
        let release = self.release.iter();
        let release = release.flat_map(|one| [Some(&one.name), one.namespace.as_ref()]).flatten();
        let names = self.cluster_role_bindings.iter().chain(&self.namespace).chain(release);
        // Names become part of a path; a binding may have a colon.
        let is_name = |name: &str| label(&name.replace(':', "-")) && !name.starts_with('.');
        if let Some(bad) = names.into_iter().find(|name| !is_name(name)) {
            return Err(format!("`{}` is not an object name", mooring_redact::identifier(bad)));
        }
        let is_protected = |name: &&String| PROTECTED.contains(&name.as_str());
        if let Some(namespace) = self.namespace.as_ref().filter(is_protected) {
            return Err(format!(
                "the namespace {namespace} belongs to the cluster or to Mooring and is never deleted"
            ));
        }
        if self.groups.is_empty()
            && self.namespace.is_none()
            && self.cluster_role_bindings.is_empty()
            && self.release.is_none()
        {
            return Err("it has nothing to remove".to_owned());
        }
        if self.finalizers.is_empty() {
            self.finalizers = self.groups.iter().map(|group| format!("{group}/*")).collect();
        }
        if let Some(release) = &mut self.release {
            let namespace = release.namespace.take().or_else(|| self.namespace.clone());
            release.namespace = Some(namespace.ok_or("`release` requires a namespace")?);
        }
        Ok(self)
    }

    pub fn has_group(&self, group: &str) -> bool {
        self.groups.iter().any(|own| is_within(group, own))
    }

    pub fn lists(&self, finalizer: &str) -> bool {
        self.finalizers.iter().any(|listed| match listed.strip_suffix("/*") {
            Some(group) => {
                finalizer.split_once('/').is_some_and(|(domain, _)| is_within(domain, group))
            }
            None => listed == finalizer,
        })
    }

    /// Returns the name of the journal's `ConfigMap`.
    pub fn config_map(&self) -> String {
        format!("finalizers-{}", self.name)
    }

    /// Returns true if the objects of the release are deleted.
    pub(crate) fn deletes_release(&self) -> bool {
        let release = self.release.as_ref();
        release.is_some_and(|release| release.resources == ReleaseResources::Delete)
    }

    /// Returns true if a name contains the first label of one of the groups, such as `cert-manager` of `cert-manager.io`. Labels
    /// with fewer than four letters must match a whole part of the name.
    pub fn is_named_in(&self, name: &str) -> bool {
        let whole =
            |word: &str| name.split(|c: char| !c.is_ascii_alphanumeric()).any(|part| part == word);
        let words = self.groups.iter().filter_map(|group| group.split('.').next());
        let mut words = words.filter(|word| !word.is_empty());
        words.any(|word| if word.len() < 4 { whole(word) } else { name.contains(word) })
    }
}

/// Returns true for `group` and `x.group`, never for `xgroup`.
pub(crate) fn is_within(domain: &str, group: &str) -> bool {
    domain.strip_suffix(group).is_some_and(|before| before.is_empty() || before.ends_with('.'))
}

/// Settings from the command line, never from a journal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Settings {
    pub profile: Profile,
    /// A running operator gets time for its teardown, and is then scaled to zero.
    pub scale_down: bool,
    /// Failed reads are skipped and reported, and do not block.
    pub best_effort: bool,
    /// Overridden checks with reasons.
    pub overrides: BTreeMap<String, String>,
    /// Namespace of the journal.
    pub journal: String,
    pub limits: Limits,
}

/// Timeouts, all within `overall`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Limits {
    /// Deadline of a session.
    pub overall: SignedDuration,
    pub poll: SignedDuration,
}

impl Default for Limits {
    fn default() -> Self {
        Self { overall: SignedDuration::from_mins(10), poll: SignedDuration::from_secs(2) }
    }
}

impl Limits {
    /// Returns the timeout for the operator's teardown: three of ten minutes.
    pub fn teardown(&self) -> SignedDuration {
        (self.overall / 10) * 3
    }

    /// Returns the timeout of a step: two of ten minutes, so that no step takes the time of all.
    pub fn step(&self) -> SignedDuration {
        self.overall / 5
    }
}

impl Settings {
    /// Returns the defaults for a profile.
    #[must_use]
    pub fn new(profile: Profile) -> Self {
        Self {
            profile,
            scale_down: false,
            best_effort: false,
            overrides: BTreeMap::new(),
            journal: NAMESPACE.to_owned(),
            limits: Limits::default(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn group_with_a_similar_name_does_not_match() {
        let profile = Profile::named("package-operator").unwrap();
        for (group, expected) in [
            ("package-operator.run", true),
            ("foo.package-operator.run", true),
            ("a.b.package-operator.run", true),
            ("xpackage-operator.run", false),
            ("package-operator.run.example.com", false),
            ("package-operator", false),
            ("operator.run", false),
            ("", false),
        ] {
            assert_eq!(profile.has_group(group), expected, "{group}");
        }
    }

    #[test]
    fn operator_is_found_by_the_first_label_of_its_groups() {
        let named = |group: &str, name: &str| Profile::of_group(group).is_named_in(name);
        assert!(named("karpenter.sh", "karpenter-leader-election"));
        assert!(named("cert-manager.io", "my-cert-manager-webhook"));
        assert!(!named("cert-manager.io", "certificates"));
        assert!(named("ma.example.com", "ma-controller") && !named("ma.example.com", "maker"));
        assert!(!Profile { groups: Vec::new(), ..Profile::of_group("x.y") }.is_named_in("x"));
    }

    #[test]
    fn unlisted_finalizers_are_kept() {
        let mut profile = Profile::named("package-operator").unwrap();
        for (finalizer, expected) in [
            ("package-operator.run/cached", true),
            ("sub.package-operator.run/x", true),
            ("xpackage-operator.run/cached", false),
            ("package-operator.run", false),
            ("foregroundDeletion", false),
            ("example.com/package-operator.run/x", false),
        ] {
            assert_eq!(profile.lists(finalizer), expected, "{finalizer}");
        }
        profile.finalizers = vec!["foregroundDeletion".into()];
        assert!(
            profile.lists("foregroundDeletion") && !profile.lists("package-operator.run/cached")
        );
    }

    #[test]
    fn dangerous_profile_is_rejected() {
        let parse = |text: &str| Profile::parse("p.yaml", text).map_err(|error| error.to_string());
        assert!(Profile::named("nosuch").unwrap_err().to_string().contains("package-operator"));
        for (text, wanted) in [
            ("name: x\n", "nothing to remove"),
            ("name: x\ngroups: [run]\n", "not an API group"),
            ("name: x\ngroups: [apps.k8s.io]\n", "belongs to Kubernetes"),
            ("name: x\nnamespace: kube-system\n", "never deleted"),
            ("name: x\nnamespace: mooring-system\n", "never deleted"),
            ("name: x\nnamespace: a/b\n", "not an object name"),
            ("name: x\nclusterRoleBindings: ['../namespaces/y']\n", "not an object name"),
            ("name: X\ngroups: [a.b]\n", "lowercase"),
            ("name: x\nnamespaces: a\n", "p.yaml"),
            ("name: x\nrelease: {name: r}\n", "requires a namespace"),
        ] {
            let error = parse(text).unwrap_err();
            assert!(error.contains(wanted), "{text}: {error}");
        }
        let whole = parse("name: x\ngroups: [a.b]\nnamespace: n\nrelease: {name: r}\n").unwrap();
        assert_eq!(whole.finalizers, ["a.b/*"]);
        assert_eq!(whole.release.unwrap().namespace.as_deref(), Some("n"));
    }
}
