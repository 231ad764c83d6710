//! Which operator is removed: a profile, from a file or built in.

use serde::{Deserialize, Serialize};
use thiserror::Error;

use super::target::Target;

/// The profiles that are compiled in.
const BUILT_IN: [(&str, &str); 1] =
    [("package-operator", include_str!("../profiles/package-operator.yaml"))];

/// Namespaces that are never deleted: the cluster's own, and the one with the journal.
const PROTECTED: [&str; 5] = [
    "default",
    "kube-system",
    "kube-public",
    "kube-node-lease",
    mooring_workflow::store::NAMESPACE,
];

/// What belongs to a retired operator.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Profile {
    /// Its name; the journal's name ends with it.
    pub name: String,
    #[serde(default)]
    pub description: String,
    /// API groups; their subgroups belong to them.
    #[serde(default)]
    pub groups: Vec<String>,
    /// Finalizers that may be removed: whole names, or `GROUP/*`. Without any: those of the groups.
    #[serde(default)]
    pub finalizers: Vec<String>,
    /// The operator's namespace, which goes last.
    #[serde(default)]
    pub namespace: Option<String>,
    /// `ClusterRoleBinding`s, by name.
    #[serde(default)]
    pub cluster_role_bindings: Vec<String>,
    /// The Helm release that installed it.
    #[serde(default)]
    pub release: Option<Release>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Release {
    pub name: String,
    /// Where its secrets are; without it the profile's namespace.
    #[serde(default)]
    pub namespace: Option<String>,
    /// What becomes of the objects in its manifest.
    #[serde(default)]
    pub resources: ReleaseResources,
}

/// What becomes of the objects that a release made.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum ReleaseResources {
    /// They stay; what is left of them is told.
    #[default]
    Keep,
    /// Those that say of themselves that they belong to the release are deleted.
    Delete,
}

/// A profile that cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum ProfileError {
    /// No built-in one has this name.
    #[error(
        "there is no profile `{0}`\nhint: the built-in one is package-operator; anything else must be a file"
    )]
    Unknown(String),
    /// A text that is no profile.
    #[error("{file} is not a profile: {why}")]
    Invalid { file: String, why: String },
}

impl Profile {
    pub fn named(name: &str) -> Result<Self, ProfileError> {
        let found = BUILT_IN.iter().find(|(known, _)| *known == name);
        let (name, text) = found.ok_or_else(|| ProfileError::Unknown(name.to_owned()))?;
        Self::parse(name, text)
    }

    /// A profile from a text; `file` is what to call it when it is wrong.
    pub fn parse(file: &str, text: &str) -> Result<Self, ProfileError> {
        let invalid = |why: String| ProfileError::Invalid { file: file.to_owned(), why };
        let profile: Self =
            serde_saphyr::from_str(text).map_err(|error| invalid(error.to_string()))?;
        profile.checked().map_err(invalid)
    }

    /// A profile of an API group alone, for whoever has no file.
    #[must_use]
    pub fn of_group(group: &str) -> Self {
        Self {
            name: group.replace('.', "-"),
            description: String::new(),
            groups: vec![group.to_owned()],
            finalizers: Vec::new(),
            namespace: None,
            cluster_role_bindings: Vec::new(),
            release: None,
        }
    }

    /// The same, made whole, or what is wrong with it.
    pub fn checked(mut self) -> Result<Self, String> {
        let label = |name: &str| {
            !name.is_empty()
                && name.len() <= 200
                && name.bytes().all(|byte| {
                    byte.is_ascii_lowercase() || byte.is_ascii_digit() || b"-.".contains(&byte)
                })
        };
        if !label(&self.name) {
            return Err("`name` must be of lower-case letters, digits and dashes".to_owned());
        }
        if let Some(bad) = self
            .groups
            .iter()
            .find(|group| !label(group) || !group.contains('.') || group.starts_with('.'))
        {
            return Err(format!(
                "`{}` is not an API group such as example.com",
                mooring_redact::identifier(bad)
            ));
        }
        let ours = ["k8s.io", "kubernetes.io"];
        if let Some(bad) =
            self.groups.iter().find(|group| ours.iter().any(|own| is_within(group, own)))
        {
            return Err(format!("the group {bad} is Kubernetes' own"));
        }
        let names = self
            .cluster_role_bindings
            .iter()
            .chain(&self.namespace)
            .chain(self.release.iter().map(|release| &release.name))
            .chain(self.release.iter().filter_map(|release| release.namespace.as_ref()));
        // A binding may have a colon in its name. None of them may leave its place in a path.
        if let Some(bad) =
            names.into_iter().find(|name| !label(&name.replace(':', "-")) || name.starts_with('.'))
        {
            return Err(format!(
                "`{}` is not the name of an object",
                mooring_redact::identifier(bad)
            ));
        }
        if let Some(namespace) =
            self.namespace.as_ref().filter(|name| PROTECTED.contains(&name.as_str()))
        {
            return Err(format!(
                "the namespace {namespace} belongs to the cluster or to Mooring and is never deleted"
            ));
        }
        if self.groups.is_empty()
            && self.namespace.is_none()
            && self.cluster_role_bindings.is_empty()
            && self.release.is_none()
        {
            return Err("it names nothing to remove".to_owned());
        }
        if self.finalizers.is_empty() {
            self.finalizers = self.groups.iter().map(|group| format!("{group}/*")).collect();
        }
        if let Some(release) = &mut self.release
            && release.namespace.is_none()
        {
            release.namespace.clone_from(&self.namespace);
            if release.namespace.is_none() {
                return Err("`release` needs a namespace".to_owned());
            }
        }
        Ok(self)
    }

    /// True for the groups of the profile and their subgroups.
    pub fn has_group(&self, group: &str) -> bool {
        self.groups.iter().any(|own| is_within(group, own))
    }

    /// True if this finalizer may be removed.
    pub fn lists(&self, finalizer: &str) -> bool {
        self.finalizers.iter().any(|listed| match listed.strip_suffix("/*") {
            Some(group) => {
                finalizer.split_once('/').is_some_and(|(domain, _)| is_within(domain, group))
            }
            None => listed == finalizer,
        })
    }

    /// Where the journal is in a cluster.
    pub fn config_map(&self) -> String {
        format!("finalizers-{}", self.name)
    }

    /// Returns where versions before 0.2 kept the journal, in `kube-system`.
    pub(crate) fn former_config_map(&self) -> String {
        format!("mooring-finalizers-{}", self.name)
    }

    /// Returns true for workloads of the operator: those of its namespace, and those that are called after it.
    pub(crate) fn has_workload(&self, workload: &Target) -> bool {
        let own = self.namespace.is_some() && self.namespace == workload.namespace;
        own || self.is_named_in(&workload.name)
    }

    /// Returns true if a name contains the operator's: the first label of one of its groups, as `cert-manager` of
    /// `cert-manager.io`. A label of less than four letters must be a whole word of the name.
    pub fn is_named_in(&self, name: &str) -> bool {
        let whole =
            |word: &str| name.split(|c: char| !c.is_ascii_alphanumeric()).any(|part| part == word);
        let words = self.groups.iter().filter_map(|group| group.split('.').next());
        let mut words = words.filter(|word| !word.is_empty());
        words.any(|word| if word.len() < 4 { whole(word) } else { name.contains(word) })
    }
}

/// True for `group` itself and `x.group`, never for `xgroup`.
pub(crate) fn is_within(domain: &str, group: &str) -> bool {
    domain.strip_suffix(group).is_some_and(|before| before.is_empty() || before.ends_with('.'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_look_alike_group_is_never_touched() {
        let profile = Profile::named("package-operator").unwrap();
        for (group, ours) in [
            ("package-operator.run", true),
            ("foo.package-operator.run", true),
            ("a.b.package-operator.run", true),
            ("xpackage-operator.run", false),
            ("package-operator.run.example.com", false),
            ("package-operator", false),
            ("operator.run", false),
            ("", false),
        ] {
            assert_eq!(profile.has_group(group), ours, "{group}");
        }
    }

    #[test]
    fn operator_is_recognized_by_the_first_label_of_its_groups() {
        let named = |group: &str, name: &str| Profile::of_group(group).is_named_in(name);
        assert!(named("karpenter.sh", "karpenter-leader-election"));
        assert!(named("cert-manager.io", "my-cert-manager-webhook"));
        assert!(!named("cert-manager.io", "certificates"));
        assert!(named("ma.example.com", "ma-controller") && !named("ma.example.com", "maker"));
        assert!(!Profile { groups: Vec::new(), ..Profile::of_group("x.y") }.is_named_in("x"));
    }

    #[test]
    fn only_listed_finalizers_may_be_removed() {
        let mut profile = Profile::named("package-operator").unwrap();
        for (finalizer, ours) in [
            ("package-operator.run/cached", true),
            ("sub.package-operator.run/x", true),
            ("xpackage-operator.run/cached", false),
            ("package-operator.run", false),
            ("foregroundDeletion", false),
            ("example.com/package-operator.run/x", false),
        ] {
            assert_eq!(profile.lists(finalizer), ours, "{finalizer}");
        }
        profile.finalizers = vec!["foregroundDeletion".into()];
        assert!(
            profile.lists("foregroundDeletion") && !profile.lists("package-operator.run/cached")
        );
    }

    #[test]
    fn a_profile_that_could_hurt_is_refused() {
        let parse = |text: &str| Profile::parse("p.yaml", text).map_err(|error| error.to_string());
        assert!(Profile::named("nosuch").unwrap_err().to_string().contains("package-operator"));
        for (text, wanted) in [
            ("name: x\n", "nothing to remove"),
            ("name: x\ngroups: [run]\n", "not an API group"),
            ("name: x\ngroups: [apps.k8s.io]\n", "Kubernetes' own"),
            ("name: x\nnamespace: kube-system\n", "never deleted"),
            ("name: x\nnamespace: mooring-system\n", "never deleted"),
            ("name: x\nnamespace: a/b\n", "not the name"),
            ("name: x\nclusterRoleBindings: ['../namespaces/y']\n", "not the name"),
            ("name: X\ngroups: [a.b]\n", "lower-case"),
            ("name: x\nnamespaces: a\n", "p.yaml"),
            ("name: x\nrelease: {name: r}\n", "needs a namespace"),
        ] {
            let error = parse(text).unwrap_err();
            assert!(error.contains(wanted), "{text}: {error}");
        }
        let whole = parse("name: x\ngroups: [a.b]\nnamespace: n\nrelease: {name: r}\n").unwrap();
        assert_eq!(whole.finalizers, ["a.b/*"]);
        assert_eq!(whole.release.unwrap().namespace.as_deref(), Some("n"));
    }
}
