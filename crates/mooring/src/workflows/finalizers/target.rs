//! The cluster of a change: named, one, and not protected.

use mooring_controller::run::Api;

use super::arguments::TargetArguments;
use crate::arguments::ClusterName;
use crate::cluster::config;
use crate::cluster::connect;
use crate::cluster::{NamedCluster, NodesCluster, about_the_nodes};
use crate::output::failure::CommandFailure;
use crate::output::show;
use crate::workflows::runs::ensure_terminal;

/// Ensures that variables name the cluster of the nodes; a command that reads warns. Nodes are read only if a variable
/// names a cluster.
pub(super) async fn ensure_one_cluster(
    client: &kube::Client,
    change: Change,
) -> Result<(), CommandFailure> {
    let named = connect::named_cluster(&ClusterName::default(), None);
    if named == NamedCluster::default() {
        return Ok(());
    }
    let nodes = match NodesCluster::read(&Api::new(client.clone())).await {
        Ok(nodes) => nodes,
        Err(_) if change == Change::None => return Ok(()),
        Err(error) => {
            let why = error.first_line();
            show::print_warning(&format!("the cluster of the nodes is not known: {why}"));
            return Ok(());
        }
    };
    match nodes.conflict(&named) {
        Some(conflict) if change == Change::None => {
            show::print_warning(&about_the_nodes(&conflict));
            Ok(())
        }
        Some(conflict) => Err(CommandFailure::blocked(format!(
            "two clusters: {conflict}\nhint: unset the variables, or pass another --context"
        ))),
        None => Ok(()),
    }
}

/// Returns the context of a change if it is protected: a terminal confirms it, also with a plan hash.
pub(super) fn protected(
    context: Option<&str>,
    change: Change,
) -> Result<Option<String>, CommandFailure> {
    if change == Change::None || !config::context(context)?.protected {
        return Ok(None);
    }
    let context = context.unwrap_or_default();
    if change == Change::Unattended {
        ensure_terminal(context)?;
    }
    Ok(Some(context.to_owned()))
}

/// A command that changes the cluster, and whether it is confirmed on a terminal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Change {
    None,
    Confirmed,
    /// Approved by flags.
    Unattended,
}

/// Ensures that a command without a prompt names its cluster: the current context of the default kubeconfig is never enough.
pub(super) fn ensure_named(
    target: &TargetArguments,
    environment: impl Fn(&str) -> Option<String>,
) -> Result<(), CommandFailure> {
    let is_set = |name: &str| environment(name).is_some_and(|value| !value.is_empty());
    // A pod has no context.
    let is_named = target.kubeconfig.is_some() || target.context.is_some();
    let variables = ["MOORING_CONTEXT", "KUBECONFIG", "KUBERNETES_SERVICE_HOST"];
    if is_named || variables.into_iter().any(is_set) {
        return Ok(());
    }
    Err(CommandFailure::blocked(
        "--yes requires a named cluster; the current context is not enough\nhint: pass `--context NAME` or `--kubeconfig FILE`, or set KUBECONFIG"
            .to_owned(),
    ))
}

#[cfg(test)]
mod tests {
    use clap::Parser as _;

    use super::*;

    #[derive(clap::Parser)]
    struct Line {
        #[command(flatten)]
        target: TargetArguments,
    }

    #[test]
    fn current_context_does_not_name_a_cluster() {
        let named = |flags: &[&str], variable: Option<&str>| {
            let line = Line::parse_from([&["mooring"], flags].concat());
            let value = |name: &str| variable.filter(|set| *set == name).map(|_| "x".to_owned());
            ensure_named(&line.target, value).is_ok()
        };
        assert!(!named(&[], None));
        assert!(named(&["--kubeconfig", "file"], None));
        assert!(named(&[], Some("KUBECONFIG")));
        assert!(named(&[], Some("KUBERNETES_SERVICE_HOST")));
    }
}
