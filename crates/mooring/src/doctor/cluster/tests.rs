use std::time::Duration;

use jiff::Timestamp;
use mooring_controller::run::Api;
use mooring_nodes::ClusterFacts;
use mooring_workflow::published::SourceState;

use super::{
    PERMISSIONS, clock, controller, failure_record, grant, install_commands, karpenter, list,
    permissions,
};
use crate::doctor::check::{CheckState, DoctorCheck};
use crate::fixtures::{Server, cluster, facts};

#[test]
fn clock_has_a_tolerance() {
    let at = |text: &str| text.parse::<Timestamp>().unwrap();
    let check = |now: &str| clock(at("2026-11-17T09:14:00Z"), at(now), Duration::from_millis(80));
    assert_eq!(check("2026-11-17T09:14:00.700Z").state, CheckState::Ok);
    assert_eq!(check("2026-11-17T09:14:05Z").state, CheckState::Ok);
    assert_eq!(check("2026-11-17T09:14:30Z").state, CheckState::Warning);
    assert_eq!(check("2026-11-17T09:13:30Z").state, CheckState::Warning);
    // 5 s, half a second on each side of the header, and the time of the request.
    let allowed = check("2026-11-17T09:14:06.080Z");
    assert_eq!(allowed.message, "at most 5.6s from the clock of the API server");
    assert_eq!(allowed.state, CheckState::Ok);
    assert_eq!(check("2026-11-17T09:14:06.090Z").state, CheckState::Warning);
    assert_eq!(check("2026-11-17T09:13:54.920Z").state, CheckState::Ok);
    assert_eq!(check("2026-11-17T09:13:54.910Z").state, CheckState::Warning);
}

fn named(checks: &[DoctorCheck], name: &str) -> Vec<(CheckState, String)> {
    let named = checks.iter().filter(|check| check.name == name);
    named.map(|check| (check.state, check.message.clone())).collect()
}

#[tokio::test]
async fn each_permission_is_requested_and_missing_ones_are_named() {
    let reviews = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews";
    let review = |allowed: bool| format!(r#"{{"status": {{"allowed": {allowed}}}}}"#);
    let answers = |answers: &[(u16, String)]| {
        let mut server = Server::default();
        for (status, body) in answers {
            server = server.with(reviews, *status, body);
        }
        let client = server.client();
        let mut cluster = cluster(facts([]));
        cluster.client = mooring_k8s::Client::new(client);
        (server, cluster)
    };
    let (_, cluster) = answers(&[(200, review(true))]);
    let checks = permissions(&cluster).await;
    let all = "you may read nodes, NodeClaims, NodePools, events, Deployments, the failure record, the Lease of the controller";
    assert_eq!(named(&checks, "permissions"), [(CheckState::Ok, all.to_owned())]);
    let (_, cluster) = answers(&[(200, review(false))]);
    let checks = permissions(&cluster).await;
    assert_eq!(checks.len(), PERMISSIONS.len());
    assert!(checks.iter().all(|check| check.state == CheckState::Failed));
    let lacks: Vec<&str> = checks.iter().map(|check| check.lacks[0].as_str()).collect();
    let expected = [
        "list nodes",
        "list nodeclaims.karpenter.sh",
        "list nodepools.karpenter.sh",
        "list events",
        "list deployments.apps",
        "get configmaps in mooring-system",
        "get leases.coordination.k8s.io in mooring-system",
    ];
    assert_eq!(lacks, expected);
    let fix = checks[5].fix.as_ref().unwrap();
    assert!(fix.starts_with("kubectl --namespace mooring-system create role mooring-get-configmaps --verb=get --resource=configmaps --resource-name=mooring-failures --resource-name=mooring-counts && "), "{fix}");
    assert!(!fix.contains("clusterrole"), "{fix}");
    let (server, cluster) = answers(&[(500, "no".to_owned())]);
    let checks = permissions(&cluster).await;
    assert!(checks.iter().all(|check| check.state == CheckState::Skipped));
    assert!(checks.iter().all(|check| check.fix.is_none()));
    assert_eq!(server.requests()[0], reviews);
}

#[tokio::test]
async fn controller_has_its_state_version_and_record() {
    let mut facts = facts([]);
    let shown = async |facts: &ClusterFacts| {
        let checks = controller(&cluster(facts.clone())).await;
        let names: Vec<&str> = checks.iter().map(|check| check.name).collect();
        let first = &checks[0];
        (first.state, first.message.clone(), first.fix.clone(), names.join(" "))
    };
    let version = env!("CARGO_PKG_VERSION");
    facts.controller.version = Some(version.to_owned());
    facts.controller.replicas = Some(2);
    let (state, message, fix, names) = shown(&facts).await;
    assert_eq!((state, fix), (CheckState::Ok, None));
    assert_eq!(message, format!("{version}, 2 replicas in mooring-system, mooring-1 leads"));
    assert_eq!(names, "running record rules alerts");
    facts.controller.version = Some("0.0.1".to_owned());
    facts.controller.state = "late";
    let (state, message, fix, names) = shown(&facts).await;
    assert_eq!(state, CheckState::Failed);
    assert_eq!(message, "0.0.1: mooring-1 does not renew its Lease");
    assert!(fix.unwrap().starts_with("kubectl -n mooring-system logs "));
    assert_eq!(names, "running version record");
    facts.controller.version = None;
    for (state, expected, message) in [
        ("not-running", CheckState::Warning, "not running in mooring-system: "),
        ("unknown", CheckState::Skipped, "unknown: not read"),
    ] {
        facts.controller.state = state;
        let (state, shown, _, names) = shown(&facts).await;
        assert_eq!((state, names.as_str()), (expected, "running record"));
        assert!(shown.starts_with(message), "{shown}");
    }
}

#[tokio::test]
async fn installed_controller_that_does_not_lead_names_why() {
    let pod = |status: &str| {
        format!(
            r#"{{"items": [{{"spec": {{"nodeName": "n"}}, "status": {{"containerStatuses": [{status}]}}}}]}}"#
        )
    };
    let waiting = |reason: &str| {
        let image = "registry.example/mooring:0.2.0";
        pod(&format!(r#"{{"image": "{image}", "state": {{"waiting": {{"reason": "{reason}"}}}}}}"#))
    };
    let check = "az aks check-acr --name demo --resource-group RG --acr registry.example";
    let kubectl = "kubectl --namespace mooring-system ";
    let of_chart = "--selector app.kubernetes.io/name=mooring";
    for (status, body, expected, why, fix) in [
        (
            200,
            waiting("ImagePullBackOff"),
            CheckState::Failed,
            "its image registry.example/mooring:0.2.0 cannot be pulled",
            check.to_owned(),
        ),
        (
            200,
            waiting("CrashLoopBackOff"),
            CheckState::Failed,
            "its pods stop",
            format!("{kubectl}logs --previous {of_chart}"),
        ),
        (
            200,
            waiting("ContainerCreating"),
            CheckState::Warning,
            "no replica leads",
            format!("{kubectl}logs {of_chart}"),
        ),
        (
            200,
            r#"{"items": [{}]}"#.to_owned(),
            CheckState::Warning,
            "none of its pods has a node",
            format!("{kubectl}describe deployments,replicasets,pods {of_chart}"),
        ),
        (
            403,
            "no".to_owned(),
            CheckState::Warning,
            "no replica leads, and its pods were not read: ",
            format!("{kubectl}get pods {of_chart}"),
        ),
    ] {
        let mut facts = facts([]);
        facts.identity.name = Some("demo".to_owned());
        facts.controller.state = "not-running";
        facts.controller.version = Some(env!("CARGO_PKG_VERSION").to_owned());
        let path = "/api/v1/namespaces/mooring-system/pods?labelSelector=app.kubernetes.io%2Fname%3Dmooring";
        let mut cluster = cluster(facts);
        cluster.api = Api::new(Server::default().with(path, status, &body).client());
        let first = &controller(&cluster).await[0];
        let message =
            format!("{} is installed in mooring-system, but {why}", env!("CARGO_PKG_VERSION"));
        assert!(first.message.starts_with(&message), "{}", first.message);
        assert_eq!((first.state, first.fix.as_deref()), (expected, Some(fix.as_str())), "{why}");
    }
}

#[test]
fn record_is_checked_by_the_state_of_its_source() {
    let mut facts = facts([]);
    for (state, expected, message) in [
        (SourceState::Read, CheckState::Ok, "the failure record of mooring-system has 0 failures"),
        (
            SourceState::Stale,
            CheckState::Warning,
            "the failure record of mooring-system has 0 failures and is not updated",
        ),
        (SourceState::Absent, CheckState::Skipped, "no failure record in mooring-system"),
        (SourceState::Failed, CheckState::Failed, "the failure record cannot be read: not read"),
    ] {
        facts.sources[1].state = state;
        let check = failure_record(&facts).unwrap();
        assert_eq!((check.state, check.message.as_str()), (expected, message));
    }
    facts.sources.clear();
    assert_eq!(failure_record(&facts), None);
}

#[test]
fn karpenter_is_optional_and_lost_nodes_are_failures() {
    let mut facts = facts([]);
    let shown = |facts: &ClusterFacts| {
        let checks = karpenter(facts);
        checks.into_iter().map(|check| check.message).collect::<Vec<_>>().join("; ")
    };
    assert_eq!(shown(&facts), "NodeClaims v1, 1 NodePool");
    facts.karpenter.node_pools = None;
    assert_eq!(shown(&facts), "NodeClaims v1, NodePools are not installed");
    facts.karpenter = crate::fixtures::karpenter(["default", "b"]);
    facts.karpenter.has_versions = Some(false);
    let text = "NodeClaims v1, 2 NodePools; images cannot be pinned: ";
    assert!(shown(&facts).starts_with(text));
    facts.has_karpenter = false;
    assert_eq!(shown(&facts), "not installed: only AKS pools are shown");
}

#[test]
fn missing_permission_has_a_command_that_grants_it() {
    let command = grant(list("karpenter.sh", "nodeclaims"));
    assert!(command.starts_with("kubectl create clusterrole mooring-list-nodeclaims --verb=get,list --resource=nodeclaims.karpenter.sh && "), "{command}");
}

/// Returns a document with each command on one line.
fn unwrapped(text: &str) -> String {
    let lines = text.lines().map(|line| line.trim().trim_start_matches("$ "));
    lines.collect::<Vec<_>>().join("\n").replace("\\\n", "")
}

#[tokio::test]
async fn install_page_has_the_commands_in_the_same_order() {
    let mut cluster = cluster(facts([]));
    cluster.facts.identity.name = None;
    let (mut commands, install) = install_commands(&cluster);
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
    assert_eq!(commands, ["cargo run --profile demo -p mooring-lab -- demo", "cargo xtask test"]);
    let (before, after) = first.split_once("```").unwrap();
    assert!(before.contains("Clone this repository") && before.contains("Rust (1.95"));
    assert!(after.contains("![") && first.lines().count() < 40, "{first}");
}

#[tokio::test]
async fn known_names_are_filled_in() {
    let mut cluster = cluster(facts([]));
    let id = "/subscriptions/s-1/resourceGroups/rg-1/providers/Microsoft.ContainerService/managedClusters/demo";
    cluster.facts.identity.id = Some(id.to_owned());
    let (before, install) = install_commands(&cluster);
    assert!(before[0].contains("create --resource-group rg-1 "), "{}", before[0]);
    assert!(before[0].contains(" cluster=demo "), "{}", before[0]);
    assert!(install.contains("--set azure.subscriptionId=s-1 "), "{install}");
}
