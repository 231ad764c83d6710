//! The cluster of a change: named, one, and not protected.

use mooring_controller::run::Api;

use super::arguments::TargetArguments;
use crate::cluster::{NodesCluster, conflict};
use crate::cluster_args::ClusterName;
use crate::failure::Failure;
use crate::repair::protected;
use crate::{config, connect, show};

/// Ensures that variables name the cluster of the nodes, and that a protected context is confirmed on a terminal.
pub(super) async fn ensure_one_cluster(
    client: &kube::Client,
    context: Option<&str>,
    is_unattended: bool,
) -> Result<(), Failure> {
    if let Some(context) = context
        && is_unattended
        && config::context(Some(context))?.protected
    {
        return Err(protected(context));
    }
    let named = connect::named_cluster(&ClusterName::default(), None);
    let nodes = match NodesCluster::read(&Api::new(client.clone())).await {
        Ok(nodes) => nodes,
        Err(error) => {
            let why = error.text().lines().next().unwrap_or_default();
            show::print_warning(&format!("the cluster of the nodes is not known: {why}"));
            return Ok(());
        }
    };
    match nodes.id() {
        Some(id) if named.differs(&id) => Err(Failure::blocked(format!(
            "two clusters: {}\nhint: unset the variables, or pass another --context",
            conflict(&named, &id)
        ))),
        _ => Ok(()),
    }
}

/// A command that changes the cluster, and whether it is confirmed on a terminal.
#[derive(Debug, Clone, Copy)]
pub(super) enum Change {
    None,
    Confirmed,
    Unattended,
}

/// Ensures that a command without a prompt names its cluster: the current context of the default kubeconfig is never enough.
pub(super) fn ensure_named(
    target: &TargetArguments,
    environment: impl Fn(&str) -> Option<String>,
) -> Result<(), Failure> {
    let is_set = |name: &str| environment(name).is_some_and(|value| !value.is_empty());
    // A pod has no context.
    let is_named = target.kubeconfig.is_some() || target.context.is_some();
    let variables = ["MOORING_CONTEXT", "KUBECONFIG", "KUBERNETES_SERVICE_HOST"];
    if is_named || variables.into_iter().any(is_set) {
        return Ok(());
    }
    Err(Failure::blocked(
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
