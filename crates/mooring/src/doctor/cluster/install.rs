//! The commands that install the controller, in the order in which they succeed.

use mooring_redact::shell_word;

use crate::cluster::ConnectedCluster;

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
    let names = InstallNames {
        subscription: known(subscription.or_else(|| of_id("subscriptions")), "SUBSCRIPTION-ID"),
        resource_group: known(of_id("resourceGroups"), "RG"),
        cluster: known(facts.identity.name.clone(), "CLUSTER"),
        node_resource_group: known(
            scope.map(|scope| scope.node_resource_group.clone()),
            "MC_RG_CLUSTER_REGION",
        ),
        namespace: shell_word(&facts.controller.namespace),
    };
    names.commands()
}

impl InstallNames {
    fn commands(&self) -> (Vec<String>, String) {
        let Self { subscription, resource_group, cluster, node_resource_group, namespace } = self;
        let version = env!("CARGO_PKG_VERSION");
        let identity = |member: &str| {
            format!(
                "\"$(az identity show --name mooring --resource-group {resource_group} --query {member} -o tsv)\""
            )
        };
        let (principal, client) = (identity("principalId"), identity("clientId"));
        let before = vec![
            format!("az identity create --name mooring --resource-group {resource_group}"),
            format!(
                "az identity federated-credential create --name mooring --identity-name mooring --resource-group {resource_group} --issuer \"$(az aks show --name {cluster} --resource-group {resource_group} --query oidcIssuerProfile.issuerUrl -o tsv)\" --subject system:serviceaccount:{namespace}:mooring --audience api://AzureADTokenExchange"
            ),
            format!(
                "az role definition create --role-definition \"$(sed s/00000000-0000-0000-0000-000000000000/{subscription}/ packaging/roles/mooring-controller.json)\""
            ),
            format!(
                "az role assignment create --role \"Mooring controller\" --assignee-object-id {principal} --assignee-principal-type ServicePrincipal --scope /subscriptions/{subscription}/resourceGroups/{node_resource_group}"
            ),
            format!(
                "cargo xtask dist && docker buildx build --file packaging/Dockerfile --tag REGISTRY/mooring:{version} --push target/dist"
            ),
        ];
        let install = format!(
            "helm install mooring charts/mooring --namespace {namespace} --create-namespace --set image.repository=REGISTRY/mooring --set azure.clientId={client} --set azure.subscriptionId={subscription} --set azure.nodeResourceGroup={node_resource_group}"
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
    async fn readme_has_the_commands_in_the_same_order() {
        let mut cluster = fixtures::cluster(fixtures::facts([]));
        cluster.facts.identity.name = None;
        let (mut commands, install) = commands(&cluster);
        commands.extend([install, "mooring doctor".to_owned()]);
        let readme = unwrapped(include_str!("../../../../../README.md"));
        let mut from = 0;
        for command in commands {
            let found = readme[from..].find(&format!("\n{command}\n"));
            from += found.unwrap_or_else(|| panic!("{command}\n{}", &readme[from..])) + 1;
        }
        let notes = include_str!("../../../../../charts/mooring/templates/NOTES.txt");
        let starts = [
            "az identity create",
            "az identity federated-credential",
            "az role definition",
            "az role assignment",
            "helm upgrade",
            "mooring doctor",
        ];
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
        assert_eq!(before[0], "az identity create --name mooring --resource-group rg-1");
        assert!(
            before[1].contains("az aks show --name demo --resource-group rg-1 "),
            "{}",
            before[1]
        );
        assert!(install.contains("--set azure.subscriptionId=s-1 "), "{install}");
    }
}
