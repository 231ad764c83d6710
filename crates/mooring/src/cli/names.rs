//! `mooring complete`: names for completion scripts.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::time::Duration;

use clap::ValueEnum;
use mooring_nodes::claim::image;

use crate::about::schema;
use crate::arguments::{AzureMode, ClusterArguments, KubeArguments, SourceArguments};
use crate::cluster::read_cluster;
use crate::output::failure::CommandFailure;
use crate::output::show;
use crate::process::build_runtime;

/// A shell waits this long for names of the cluster.
const LIMIT: Duration = Duration::from_secs(2);

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Names {
    Contexts,
    Pools,
    /// Nodes and NodeClaims, and pools.
    Nodes,
    Causes,
    /// Numbers and names of exit codes, and causes.
    Codes,
    /// Versions of node images.
    Images,
    Schemas,
}

/// Prints names, one per line, only those that a shell does not expand. The line selects a cluster; without one there are
/// no names of it.
pub(crate) fn complete(what: Names, line: &[String]) -> Result<(), CommandFailure> {
    let kubeconfig = value_of(line, "--kubeconfig").map(PathBuf::from);
    let context = value_of(line, "--context").map(str::to_owned);
    let kube = KubeArguments { kubeconfig, context, namespace: None };
    let names = names(what, ClusterArguments { kube, ..ClusterArguments::default() });
    show::print_names(names.iter().map(String::as_str).filter(|name| is_plain(name)))
}

/// Returns the value of a flag of a line. Bash splits words at `=`.
fn value_of<'a>(line: &'a [String], flag: &str) -> Option<&'a str> {
    let mut words = line.iter().map(String::as_str);
    while let Some(word) = words.next() {
        match word.strip_prefix(flag) {
            Some("") => return words.find(|word| *word != "="),
            Some(rest) if rest.starts_with('=') => return Some(&rest[1..]),
            _ => {}
        }
    }
    None
}

fn names(what: Names, cluster: ClusterArguments) -> BTreeSet<String> {
    let causes = || mooring_diagnosis::cause_pages().into_iter().map(|page| page.reason.to_owned());
    match what {
        Names::Contexts => {
            let contexts = mooring_k8s::kubeconfig::contexts(cluster.kube.kubeconfig.as_deref());
            contexts.into_iter().collect()
        }
        Names::Causes => causes().collect(),
        Names::Codes => {
            let numbers = mooring_codes::all().map(|code| code.number.to_string());
            let names = mooring_codes::code_names().map(str::to_owned);
            let listed = mooring_catalog::rows().iter().map(|row| row.name.to_owned());
            numbers.chain(names).chain(causes()).chain(listed).collect()
        }
        Names::Schemas => schema::ids().map(str::to_owned).collect(),
        Names::Pools | Names::Nodes | Names::Images => {
            of_cluster(what, cluster).unwrap_or_default()
        }
    }
}

fn of_cluster(what: Names, cluster: ClusterArguments) -> Option<BTreeSet<String>> {
    let arguments = SourceArguments { cluster, azure: AzureMode::Never, timeout: LIMIT };
    let facts = build_runtime().ok()?.block_on(read_cluster(&arguments)).ok()?.facts;
    if what == Names::Images {
        let images = facts.inventory.nodes.iter().filter_map(|node| node.image.as_deref());
        return Some(images.map(|name| image::version(name).to_owned()).collect());
    }
    let mut names: BTreeSet<String> = facts.karpenter.pool_names().map(str::to_owned).collect();
    for node in &facts.inventory.nodes {
        names.extend(node.pool.as_deref().map(str::to_owned));
        if what == Names::Nodes {
            names.extend([&node.node, &node.node_claim].into_iter().flatten().cloned());
        }
    }
    Some(names)
}

/// Returns true for a name without characters that a shell expands or splits.
fn is_plain(name: &str) -> bool {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "._/@:-".contains(c);
    !name.is_empty() && !name.starts_with('-') && name.chars().all(is_plain)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cluster_of_the_line_is_that_of_its_flags() {
        let value = |line: &str| {
            let words: Vec<String> = line.split(' ').map(str::to_owned).collect();
            value_of(&words, "--context").map(str::to_owned)
        };
        for line in ["why --context two x", "why --context=two", "--context = two why"] {
            assert_eq!(value(line).as_deref(), Some("two"), "{line}");
        }
        assert_eq!(value("why --contexts two --context"), None);
    }

    #[test]
    fn names_that_a_shell_expands_are_left_out() {
        for name in ["prod-weu-admin", "user@cluster", "arn:aws:eks/x", "ERR_ORAS", "211"] {
            assert!(is_plain(name), "{name}");
        }
        for name in ["", "-rf", "$(id)", "a b", "`id`", "a;b", "*", "é"] {
            assert!(!is_plain(name), "{name}");
        }
        let names = |what| names(what, ClusterArguments::default());
        let codes = names(Names::Codes);
        assert!(["211", "137", "OrasBinaryMissing"].iter().all(|name| codes.contains(*name)));
        for name in codes.iter().filter(|name| is_plain(name)) {
            let is_cause = mooring_diagnosis::cause_page(name).is_some();
            let is_code = name.parse::<i32>().is_ok() || !mooring_codes::by_name(name).is_empty();
            let is_listed = mooring_catalog::find(name).is_some();
            assert!(is_cause || is_code || is_listed, "{name} cannot be explained");
        }
        assert!(names(Names::Schemas).contains("mooring.why/v1"));
    }
}
