use std::time::Duration;

use jiff::Timestamp;
use mooring_controller::run::Api;
use mooring_nodes::ClusterFacts;
use mooring_workflow::published::SourceState;

use super::connection::clock;
use super::controller::{controller, record};
use super::karpenter::karpenter;
use super::permissions::{PERMISSIONS, grant, list, permissions};
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
        let check = record(&facts).unwrap();
        assert_eq!((check.state, check.message.as_str()), (expected, message));
    }
    facts.sources.clear();
    assert_eq!(record(&facts), None);
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
