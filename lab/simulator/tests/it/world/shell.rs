//! The simulation with one clock, for clients in process.

use std::time::Duration;

use bytes::Bytes;
use kube::api::{Api, DynamicObject, ListParams};
use kube::core::{ApiResource, GroupVersionKind};
use mooring_simulator::cluster::{ClusterOptions, Shell, SimulatedCluster};
use mooring_simulator::exchange::ServerReply;
use mooring_simulator::faults::ServiceName;
use mooring_simulator::karpenter;
use mooring_simulator::scenario::Scenario;

use super::support::start;

#[tokio::test(start_paused = true)]
async fn time_passes_for_both_sides_without_requests() {
    let options = ClusterOptions {
        karpenter: Some(karpenter::KarpenterOptions::default()),
        ..ClusterOptions::default()
    };
    let world = SimulatedCluster::new(&Scenario::named("healthy").unwrap(), 1, start(), options);
    let shell = Shell::new(world);
    let running = shell.start();
    let token = shell.with(|world, _| world.options().token.clone());
    let client = kube::Client::new(shell.kube_service(token.expose()), "default");
    let resource = ApiResource::from_gvk(&GroupVersionKind::gvk("karpenter.sh", "v1", "NodeClaim"));
    let claims: Api<DynamicObject> = Api::all_with(client.clone(), &resource);
    shell.with(|world, now| world.create_claim("default-a", now).map(|_| ())).unwrap();
    tokio::time::sleep(Duration::from_mins(3)).await;
    let claim = claims.get("default-a").await.unwrap();
    assert_eq!(claim.data["status"]["nodeName"], "aks-default-a");
    let nodes: Api<k8s_openapi::api::core::v1::Node> = Api::all(client);
    assert_eq!(nodes.list(&ListParams::default()).await.unwrap().items.len(), 6);
    drop(running);
}

#[tokio::test(start_paused = true)]
async fn azure_answers_in_process_and_a_stranger_is_refused() {
    let world = SimulatedCluster::new(
        &Scenario::named("healthy").unwrap(),
        1,
        start(),
        ClusterOptions::default(),
    );
    let cluster = world.azure().options().cluster_id();
    let token = world.azure().token("https://management.azure.com", start());
    let shell = Shell::new(world);
    let request = http::Request::builder()
        .uri(format!("{cluster}?api-version=2025-10-01"))
        .header("authorization", format!("Bearer {token}"))
        .body(Bytes::new())
        .unwrap();
    let outcome = shell.call(ServiceName::Arm, request).await;
    assert!(matches!(outcome, ServerReply::Answer(response) if response.status() == 200));
    let client = kube::Client::new(shell.kube_service("nobody"), "default");
    let nodes: Api<k8s_openapi::api::core::v1::Node> = Api::all(client);
    let error = nodes.list(&ListParams::default()).await.unwrap_err();
    assert!(matches!(error, kube::Error::Api(status) if status.code == 401));
}
