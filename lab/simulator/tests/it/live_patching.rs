//! The agent's gRPC client against an independent HTTP/2 server (hyper) and the simulated service.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use mooring_agent::hotfix::grpc::{self, CallFailure, GrpcCall, GrpcStatus};
use mooring_agent::world::{Dial, Host};
use mooring_contract::Secret;
use mooring_simulator::exchange::ServerReply;
use mooring_simulator::imds::Imds;
use mooring_simulator::live_patching::{CERTIFICATE_NAME, METHOD, PROTOCOL};
use mooring_simulator::scenario::Scenario;
use mooring_simulator::sim::{Simulation, SimulationSettings, start};

/// Returns the signature of the attested document, as a node reads it.
fn signature(imds: &Imds) -> Secret {
    let request = http::Request::get("/metadata/attested/document?api-version=2025-04-07");
    let request = request.header("Metadata", "true").body(Bytes::new()).unwrap();
    let now = "2026-11-15T08:00:00Z".parse().unwrap();
    let ServerReply::Answer(response) = imds.handle(&request, now) else { panic!("no response") };
    let body: serde_json::Value = serde_json::from_slice(&response.body().bytes()).unwrap();
    Secret::from(body["signature"].as_str().unwrap())
}

fn call(port: u16, ca: &[u8], signature: &Secret, argument: &str) -> Result<String, CallFailure> {
    let dial = Dial {
        host: "localhost",
        port: 443,
        ca,
        certificate_name: CERTIFICATE_NAME,
        protocols: &[PROTOCOL, "h2"],
        limit: Duration::from_mins(1),
    };
    let mut stream = Host::dial_at(&dial, ("127.0.0.1", port)).expect("a connection");
    let call = GrpcCall {
        authority: "localhost:443",
        path: METHOD,
        authorization: signature,
        argument,
        timeout: 60_000,
    };
    grpc::call(&mut *stream, &call).map(|text| String::from_utf8(text).unwrap())
}

fn status(result: Result<String, CallFailure>) -> GrpcStatus {
    match result {
        Err(CallFailure::Status(status)) => status,
        other => panic!("{other:?}"),
    }
}

async fn simulation(state: &std::path::Path) -> Simulation {
    let settings = SimulationSettings {
        scenario: Scenario::named("healthy").unwrap(),
        address: "127.0.0.1:0".parse().unwrap(),
        state: state.to_owned(),
        speed: 1.0,
        seed: 1,
        kube_port: None,
        karpenter: None,
    };
    start(settings).await.unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn agent_reads_the_published_component() {
    let state = tempfile::tempdir().unwrap();
    let simulation = simulation(state.path()).await;
    let port: u16 = simulation.url().rsplit(':').next().unwrap().parse().unwrap();
    let ca = std::fs::read(state.path().join("ca.pem")).unwrap();
    let shell = Arc::clone(simulation.shell());
    tokio::task::spawn_blocking(move || {
        let signed = signature(shell.imds());
        let ask = |signed: &Secret, argument| call(port, &ca, signed, argument);
        assert_eq!(status(ask(&signed, "aksNodeController")), GrpcStatus::NotFound);
        assert_eq!(
            status(ask(&Secret::from("forged"), "aksNodeController")),
            GrpcStatus::Unauthenticated
        );
        // From an empty text to one of many frames, and one that is too large.
        for length in [0, 1, 100, 20_000, 3 << 20] {
            let text = "x".repeat(length);
            shell.live_patching().publish(Some(text.clone()));
            assert!(ask(&signed, "aksNodeController").unwrap() == text, "{length}");
        }
        shell.live_patching().publish(Some("x".repeat(5 << 20)));
        assert_eq!(status(ask(&signed, "aksNodeController")), GrpcStatus::ResourceExhausted);
        assert_eq!(status(ask(&signed, "securityPatch")), GrpcStatus::NotFound);
        shell.live_patching().publish(None);
        assert_eq!(status(ask(&signed, "aksNodeController")), GrpcStatus::NotFound);
    })
    .await
    .unwrap();
    simulation.stop().await;
}
