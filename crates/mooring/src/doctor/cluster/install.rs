//! The commands that install the controller, in the order in which they succeed.

use mooring_redact::shell_word;

use crate::cluster::ConnectedCluster;

/// Namespace of the chart in the Bicep file.
const CHART_NAMESPACE: &str = "mooring-system";

/// Names in the commands; placeholders if they are not known.
#[derive(Debug)]
struct InstallNames {
    subscription: String,
    resource_group: String,
    cluster: String,
    node_resource_group: String,
    namespace: String,
}

/// Returns the commands for a cluster: those before the installation, and the installation.
pub(super) fn commands(cluster: &ConnectedCluster) -> (Vec<String>, String) {
    names(cluster).commands()
}

/// Returns the command that checks whether the nodes of the cluster can pull an image.
pub(super) fn check_pull(cluster: &ConnectedCluster, image: &str) -> String {
    let InstallNames { cluster, resource_group, .. } = names(cluster);
    let registry = image.split_once('/').map_or("REGISTRY", |(registry, _)| registry);
    let registry = shell_word(registry);
    format!("az aks check-acr --name {cluster} --resource-group {resource_group} --acr {registry}")
}

fn names(cluster: &ConnectedCluster) -> InstallNames {
    let (facts, scope) = (&cluster.facts, cluster.scope.as_ref());
    let id = cluster.facts.identity.id.as_deref().unwrap_or_default();
    let of_id = |kind: &str| {
        let mut parts = id.split('/').skip_while(|part| !part.eq_ignore_ascii_case(kind));
        parts.nth(1).map(str::to_owned)
    };
    let known = |name: Option<String>, placeholder: &str| {
        name.map_or_else(|| placeholder.to_owned(), |name| shell_word(&name))
    };
    let subscription = scope.map(|scope| scope.subscription.clone());
    InstallNames {
        subscription: known(subscription.or_else(|| of_id("subscriptions")), "SUBSCRIPTION-ID"),
        resource_group: known(of_id("resourceGroups"), "RG"),
        cluster: known(facts.identity.name.clone(), "CLUSTER"),
        node_resource_group: known(
            scope.map(|scope| scope.node_resource_group.clone()),
            "MC_RG_CLUSTER_REGION",
        ),
        namespace: shell_word(&facts.controller.namespace),
    }
}

impl InstallNames {
    fn commands(&self) -> (Vec<String>, String) {
        let Self { subscription, resource_group, cluster, node_resource_group, namespace } = self;
        let version = env!("CARGO_PKG_VERSION");
        let of_namespace = match namespace.as_str() {
            CHART_NAMESPACE => String::new(),
            other => format!(" namespace={other}"),
        };
        let before = vec![
            format!(
                "az deployment group create --resource-group {resource_group} --template-file packaging/identity/main.bicep --parameters cluster={cluster} nodeResourceGroup={node_resource_group}{of_namespace}"
            ),
            format!(
                "cargo xtask dist && skopeo copy --all oci-archive:target/dist/mooring-image-{version}.oci.tar:{version} docker://REGISTRY/mooring:{version}"
            ),
        ];
        let install = format!(
            "helm install mooring charts/mooring --namespace {namespace} --create-namespace --set image.repository=REGISTRY/mooring --set azure.clientId=\"$(az identity show --name mooring --resource-group {resource_group} --query clientId -o tsv)\" --set azure.subscriptionId={subscription} --set azure.nodeResourceGroup={node_resource_group}"
        );
        (before, install)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixtures;

    /// Returns a document with each command on one line.
    fn unwrapped(text: &str) -> String {
        let lines = text.lines().map(|line| line.trim().trim_start_matches("$ "));
        lines.collect::<Vec<_>>().join("\n").replace("\\\n", "")
    }

    #[tokio::test]
    async fn install_page_has_the_commands_in_the_same_order() {
        let mut cluster = fixtures::cluster(fixtures::facts([]));
        cluster.facts.identity.name = None;
        let (mut commands, install) = commands(&cluster);
        commands.extend([install, "mooring doctor".to_owned()]);
        let page = unwrapped(include_str!("../../../../../docs/INSTALL.md"));
        let mut from = 0;
        for command in commands {
            let found = page[from..].find(&format!("\n{command}\n"));
            from += found.unwrap_or_else(|| panic!("{command}\n{}", &page[from..])) + 1;
        }
        let notes = include_str!("../../../../../charts/mooring/templates/NOTES.txt");
        let starts = ["az deployment group create", "helm upgrade", "mooring doctor"];
        let place = |start: &&str| notes.find(&format!("\n  {start}")).unwrap();
        let places: Vec<usize> = starts.iter().map(place).collect();
        assert!(places.is_sorted(), "{places:?}");
    }

    #[test]
    fn readme_begins_with_the_demo_and_the_tests() {
        let readme = include_str!("../../../../../README.md");
        let (first, _) = readme.split_once("\n## ").unwrap();
        let blocks: Vec<&str> = first.split("```").skip(1).step_by(2).collect();
        assert_eq!(blocks.len(), 1, "{blocks:?}");
        let commands: Vec<&str> = blocks[0].lines().skip(1).collect();
        let commands: Vec<&str> =
            commands.iter().map(|line| line.split(" #").next().unwrap().trim()).collect();
        assert_eq!(commands, ["cargo run --release -p mooring-lab -- demo", "cargo xtask test"]);
        let (before, after) = first.split_once("```").unwrap();
        assert!(before.contains("Clone this repository") && before.contains("Rust (1.95"));
        assert!(after.contains("![") && first.lines().count() < 40, "{first}");
    }

    #[tokio::test]
    async fn known_names_are_filled_in() {
        let mut cluster = fixtures::cluster(fixtures::facts([]));
        let id = "/subscriptions/s-1/resourceGroups/rg-1/providers/Microsoft.ContainerService/managedClusters/demo";
        cluster.facts.identity.id = Some(id.to_owned());
        let (before, install) = commands(&cluster);
        assert!(before[0].contains("create --resource-group rg-1 "), "{}", before[0]);
        assert!(before[0].contains(" cluster=demo "), "{}", before[0]);
        assert!(install.contains("--set azure.subscriptionId=s-1 "), "{install}");
    }
}
