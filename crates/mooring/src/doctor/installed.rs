//! Checks of what the chart installs besides the controller: permissions, alerts and the dashboard.

use mooring_controller::run::{Api, ApiError};
use serde::Deserialize;
use serde_json::Value;

use super::check::{CheckState, DoctorCheck, Part};

/// Permissions that the chart grants.
const RULES: &str = include_str!("../../../../charts/mooring/files/rules.yaml");
const LABEL: &str = "labelSelector=app.kubernetes.io%2Fname%3Dmooring";
const RBAC: &str = "/apis/rbac.authorization.k8s.io/v1";

#[derive(Debug, Deserialize)]
struct ChartRules {
    cluster: Vec<Rule>,
    release: Vec<Rule>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Rule {
    api_groups: Vec<String>,
    resources: Vec<String>,
    resource_names: Vec<String>,
    verbs: Vec<String>,
}

#[derive(Deserialize)]
struct Roles {
    #[serde(default)]
    items: Vec<Role>,
}

#[derive(Deserialize)]
struct Role {
    #[serde(default)]
    rules: Vec<Rule>,
}

/// Checks the objects of a controller in this namespace.
pub(super) async fn checks(api: &Api, namespace: &str) -> Vec<DoctorCheck> {
    let (permissions, add_ons) = tokio::join!(permissions(api, namespace), add_ons(api, namespace));
    vec![permissions, add_ons]
}

async fn permissions(api: &Api, namespace: &str) -> DoctorCheck {
    let new = |state, message: &str| DoctorCheck::new(Part::Controller, "rules", state, message);
    let of_cluster = format!("{RBAC}/clusterroles?{LABEL}");
    let of_release = format!("{RBAC}/namespaces/{namespace}/roles?{LABEL}");
    let (of_cluster, of_release) = tokio::join!(rules(api, &of_cluster), rules(api, &of_release));
    let expected: Result<ChartRules, _> = serde_saphyr::from_str(RULES);
    let (of_cluster, of_release, expected) = match (of_cluster, of_release, expected) {
        (Ok(of_cluster), Ok(of_release), Ok(expected)) => (of_cluster, of_release, expected),
        (Err(why), ..) | (_, Err(why), _) => {
            return new(CheckState::Skipped, &format!("its permissions were not read: {why}"));
        }
        (.., Err(error)) => return new(CheckState::Failed, &error.to_string()),
    };
    if of_cluster.is_empty() && of_release.is_empty() {
        return new(CheckState::Skipped, "its roles have no label of the chart");
    }
    let mut lacks = missing(&expected.cluster, &of_cluster);
    let own = missing(&expected.release, &of_release).into_iter();
    lacks.extend(own.map(|lack| format!("{lack} in {namespace}")));
    if lacks.is_empty() {
        return new(CheckState::Ok, "it has the permissions of the chart (rules.yaml)");
    }
    let upgrade =
        format!("helm upgrade mooring charts/mooring --namespace {namespace} --reuse-values");
    new(CheckState::Failed, "it lacks permissions of the chart (rules.yaml)")
        .used_by(&["controller"])
        .lacks(lacks)
        .fix(Some(upgrade))
}

async fn rules(api: &Api, path: &str) -> Result<Vec<Rule>, String> {
    let text = api.get(path).await.map_err(|error| error.what)?;
    let roles: Roles =
        serde_json::from_str(&text).map_err(|_| "the list is not valid JSON".to_owned())?;
    Ok(roles.items.into_iter().flat_map(|role| role.rules).collect())
}

/// Returns the expected permissions that no rule grants, as `VERB RESOURCE.GROUP`.
fn missing(expected: &[Rule], granted: &[Rule]) -> Vec<String> {
    let mut lacks = Vec::new();
    for rule in expected {
        for (group, resource, verb) in rule.permissions() {
            let is_granted = |one: &Rule| one.grants(group, resource, verb, &rule.resource_names);
            if !granted.iter().any(is_granted) {
                let group = if group.is_empty() { String::new() } else { format!(".{group}") };
                lacks.push(format!("{verb} {resource}{group}"));
            }
        }
    }
    lacks
}

impl Rule {
    fn permissions(&self) -> impl Iterator<Item = (&str, &str, &str)> {
        let groups = self.api_groups.iter();
        groups.flat_map(move |group| {
            self.resources.iter().flat_map(move |resource| {
                let verbs = self.verbs.iter();
                verbs.map(move |verb| (group.as_str(), resource.as_str(), verb.as_str()))
            })
        })
    }

    fn grants(&self, group: &str, resource: &str, verb: &str, names: &[String]) -> bool {
        let has =
            |list: &[String], wanted: &str| list.iter().any(|one| one == wanted || one == "*");
        let is_named = |name: &String| self.resource_names.contains(name);
        // Without names, the rule is for all objects.
        let names_match =
            self.resource_names.is_empty() || (!names.is_empty() && names.iter().all(is_named));
        names_match
            && has(&self.api_groups, group)
            && has(&self.resources, resource)
            && has(&self.verbs, verb)
    }
}

async fn add_ons(api: &Api, namespace: &str) -> DoctorCheck {
    let new = |state, message: &str| DoctorCheck::new(Part::Controller, "alerts", state, message);
    let alerts =
        format!("/apis/monitoring.coreos.com/v1/namespaces/{namespace}/prometheusrules?{LABEL}");
    let dashboard = format!("/api/v1/namespaces/{namespace}/configmaps?{LABEL}");
    let (alerts, dashboard) = tokio::join!(api.get(&alerts), api.get(&dashboard));
    let is_dashboard = |item: &Value| {
        item["metadata"]["name"].as_str().is_some_and(|name| name.ends_with("-dashboard"))
    };
    let found = [has_item(alerts, |_| true), has_item(dashboard, is_dashboard)];
    match found {
        [Ok(true), Ok(true)] => new(CheckState::Ok, "alerts and dashboard are installed"),
        [Ok(alerts), Ok(dashboard)] => {
            let missing = match (alerts, dashboard) {
                (false, false) => "prometheusRule.enabled and grafanaDashboard.enabled",
                (false, true) => "prometheusRule.enabled",
                (true, _) => "grafanaDashboard.enabled",
            };
            new(CheckState::Skipped, &format!("the chart installs more with {missing}"))
        }
        [Err(why), _] | [_, Err(why)] => {
            new(CheckState::Skipped, &format!("alerts and dashboard were not read: {why}"))
        }
    }
}

/// Returns true if a list has such an item; a resource that does not exist has none.
fn has_item(
    list: Result<String, ApiError>,
    is_wanted: impl Fn(&Value) -> bool,
) -> Result<bool, String> {
    match list {
        Ok(text) => {
            let list = serde_json::from_str::<Value>(&text).ok();
            let items = list.as_ref().and_then(|list| list["items"].as_array());
            Ok(items.ok_or("the response is not a list")?.iter().any(is_wanted))
        }
        Err(error) if error.status == Some(404) => Ok(false),
        Err(error) => Err(error.what),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixtures::Server;

    #[test]
    fn missing_permissions_are_named() {
        let chart = || serde_saphyr::from_str::<ChartRules>(RULES).unwrap();
        let mut granted = chart();
        assert_eq!(missing(&chart().cluster, &granted.cluster), [""; 0]);
        assert_eq!(missing(&chart().release, &granted.release), [""; 0]);
        granted.cluster.retain(|rule| rule.resources != ["nodeclaims/status"]);
        let lacks = missing(&chart().cluster, &granted.cluster);
        assert_eq!(lacks, ["patch nodeclaims/status.karpenter.sh"]);
        for rule in &mut granted.release {
            rule.resource_names.retain(|name| name != "mooring-counts");
        }
        let lacks = missing(&chart().release, &granted.release);
        assert_eq!(lacks, ["get configmaps", "update configmaps"]);
        let all = Rule {
            api_groups: vec!["*".to_owned()],
            resources: vec!["*".to_owned()],
            verbs: vec!["*".to_owned()],
            resource_names: Vec::new(),
        };
        assert_eq!(missing(&chart().cluster, &[all]), [""; 0]);
    }

    #[test]
    fn rule_grants_its_groups_resources_verbs_and_names() {
        let words = |text: &str| text.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
        let rule = |names: &str| Rule {
            api_groups: words("apps batch"),
            resources: words("deployments"),
            verbs: words("get *"),
            resource_names: words(names),
        };
        let any = rule("");
        assert!(any.grants("batch", "deployments", "get", &[]));
        assert!(any.grants("apps", "deployments", "delete", &words("x")));
        assert!(!any.grants("", "deployments", "get", &[]));
        assert!(!any.grants("apps", "pods", "get", &[]));
        let named = rule("x y");
        assert!(named.grants("apps", "deployments", "get", &words("x")));
        assert!(!named.grants("apps", "deployments", "get", &words("x z")));
        assert!(!named.grants("apps", "deployments", "get", &[]), "all objects");
    }

    fn path(kind: &str) -> String {
        match kind {
            "clusterroles" => format!("{RBAC}/clusterroles?{LABEL}"),
            "roles" => format!("{RBAC}/namespaces/ops/roles?{LABEL}"),
            "configmaps" => format!("/api/v1/namespaces/ops/configmaps?{LABEL}"),
            alerts => format!("/apis/monitoring.coreos.com/v1/namespaces/ops/{alerts}?{LABEL}"),
        }
    }

    #[tokio::test]
    async fn permissions_of_the_controller_are_those_of_the_chart() {
        let chart: Value = serde_saphyr::from_str(RULES).unwrap();
        let list = |rules: &Value| serde_json::json!({"items": [{"rules": rules}]}).to_string();
        let check = async |cluster: &str, release: &str| {
            let server = Server::default().with(&path("clusterroles"), 200, cluster).with(
                &path("roles"),
                200,
                release,
            );
            permissions(&Api::new(server.client()), "ops").await
        };
        let (cluster, release) = (list(&chart["cluster"]), list(&chart["release"]));
        let granted = check(&cluster, &release).await;
        assert_eq!((granted.state, granted.lacks.len()), (CheckState::Ok, 0));
        let none = r#"{"items": []}"#;
        let missing = check(&cluster, none).await;
        assert_eq!(missing.state, CheckState::Failed);
        assert!(missing.lacks.iter().all(|lack| lack.ends_with(" in ops")), "{:?}", missing.lacks);
        assert_eq!(check(none, &release).await.state, CheckState::Failed);
        let unlabeled = check(none, none).await;
        assert_eq!(unlabeled.state, CheckState::Skipped);
        assert_eq!(unlabeled.message, "its roles have no label of the chart");
        let unread = permissions(&Api::new(Server::default().client()), "ops").await;
        assert!(unread.message.starts_with("its permissions were not read: "));
    }

    #[tokio::test]
    async fn alerts_and_dashboard_are_optional() {
        let check =
            async |alerts: (u16, &str), maps: &str| {
                let server = Server::default()
                    .with(&path("prometheusrules"), alerts.0, alerts.1)
                    .with(&path("configmaps"), 200, maps);
                add_ons(&Api::new(server.client()), "ops").await.message
            };
        let one = r#"{"items": [{"metadata": {"name": "mooring-dashboard"}}]}"#;
        let other = r#"{"items": [{"metadata": {"name": "mooring-failures"}}]}"#;
        assert_eq!(check((200, one), one).await, "alerts and dashboard are installed");
        let missing = check((404, "no"), other).await;
        assert!(missing.ends_with("prometheusRule.enabled and grafanaDashboard.enabled"));
        assert!(check((404, "no"), one).await.ends_with("with prometheusRule.enabled"));
        assert!(check((200, one), other).await.ends_with("with grafanaDashboard.enabled"));
        for unread in [check((403, "no"), one).await, check((200, "x"), one).await] {
            assert!(unread.starts_with("alerts and dashboard were not read: "), "{unread}");
        }
    }
}
