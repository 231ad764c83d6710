//! Configuration file, flags and variables.

use super::check::{CheckState, DoctorCheck, Part};
use crate::arguments::ClusterArguments;
use crate::cluster::config;
use crate::cluster::connect;

/// Shows the configuration file. It is read without a context as well: an invalid file may be the reason why no
/// cluster was read.
pub(super) fn configuration(context: Option<&str>) -> DoctorCheck {
    let path = config::path();
    let file = path.as_ref().map(|path| path.display().to_string()).unwrap_or_default();
    match config::read() {
        Err(failure) => {
            DoctorCheck::new(Part::Config, "file", CheckState::Failed, failure.first_line())
        }
        Ok(_) if !path.is_some_and(|path| path.exists()) => {
            DoctorCheck::new(Part::Config, "file", CheckState::Skipped, format!("no {file}"))
        }
        Ok(mut config) => {
            let entry = context.and_then(|name| config.contexts.remove(name)).unwrap_or_default();
            let none = || "none".to_owned();
            let message = format!(
                "{file}: cluster {}, namespace {}, protected {}",
                entry.cluster.unwrap_or_else(none),
                entry.namespace.unwrap_or_else(none),
                entry.protected
            );
            DoctorCheck::new(Part::Config, "file", CheckState::Ok, message)
        }
    }
}

/// Shows the settings of flags and variables, and where each is from. None of them is a secret.
pub(super) fn settings(
    arguments: &ClusterArguments,
    variable: impl Fn(&str) -> Option<String>,
) -> Option<DoctorCheck> {
    let ClusterArguments { kube, name, node_resource_group, .. } = arguments;
    let kubeconfig = kube.kubeconfig.as_ref().map(|file| file.display().to_string());
    let settings: [(&str, Option<&String>, &[&str]); 8] = [
        ("--kubeconfig", kubeconfig.as_ref(), &["KUBECONFIG"]),
        ("--context", kube.context.as_ref(), &["MOORING_CONTEXT"]),
        ("--namespace", kube.namespace.as_ref(), &["MOORING_NAMESPACE"]),
        ("--cluster", name.cluster.as_ref(), &connect::CLUSTER),
        ("--resource-group", name.resource_group.as_ref(), &connect::RESOURCE_GROUP),
        ("--subscription", name.subscription.as_ref(), &connect::SUBSCRIPTION),
        ("--node-resource-group", node_resource_group.as_ref(), &connect::NODE_RESOURCE_GROUP),
        ("", None, &["AZURE_TOKEN_CREDENTIALS"]),
    ];
    let mut shown = Vec::new();
    for (flag, value, variables) in settings {
        let value_of = |name: &str| variable(name).filter(|value| !value.is_empty());
        let mut set = variables.iter().filter_map(|name| Some((*name, value_of(name)?)));
        if let Some(value) = value {
            shown.push(format!("{flag} {value}"));
        } else if let Some((name, value)) = set.next() {
            shown.push(format!("{name}={value}"));
        }
    }
    let message = format!("from flags and variables: {}", shown.join(", "));
    (!shown.is_empty())
        .then(|| DoctorCheck::new(Part::Config, "variables", CheckState::Ok, message))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixtures::source_arguments;

    #[test]
    fn settings_have_their_values_and_sources() {
        let arguments = source_arguments(&["--context", "two", "--node-resource-group", "mc"]);
        let variable = |name: &str| {
            let known = [("MOORING_CONTEXT", "one"), ("CLUSTER_NAME", "demo"), ("KUBECONFIG", "")];
            known.iter().find(|(one, _)| *one == name).map(|(_, value)| (*value).to_owned())
        };
        let check = settings(&arguments.cluster, variable).unwrap();
        assert_eq!(
            check.message,
            "from flags and variables: --context two, CLUSTER_NAME=demo, --node-resource-group mc"
        );
        assert_eq!(settings(&ClusterArguments::default(), |_| None), None);
        let variable = |name: &str| name.ends_with("_NODE_RESOURCE_GROUP").then(|| "mc".to_owned());
        let check = settings(&ClusterArguments::default(), variable).unwrap();
        assert_eq!(check.message, "from flags and variables: MOORING_NODE_RESOURCE_GROUP=mc");
    }
}
