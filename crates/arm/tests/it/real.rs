//! The production [`World`](mooring_arm::World) against a server on loopback: sign-in through `azure_identity`, TLS
//! with a test CA.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures::FutureExt;
use futures::future::BoxFuture;
use http::StatusCode;
use mooring_arm::calls::{Cluster, DeletePool};
use mooring_arm::{
    Budget, BudgetLimits, Client, Cloud, CloudSettings, ErrorKind, Operation, Real, ResourceId,
    Started, World, WriteStatus, identity,
};
use mooring_simulator::exchange::{Request, ServerReply, json};
use mooring_simulator::serve::{CertificateAuthority, Service, listen, serve};
use serde_json::json;

const SECRET: &str = "canary-secret-5e1f";
const TOKEN: &str = "canary-token-77aa";

/// A server with a sign-in endpoint and one cluster, which records requests.
#[derive(Default)]
struct Azure(Mutex<Vec<String>>);

impl Azure {
    /// Returns the cluster `large-N` in a body of N bytes.
    fn large(path: &str) -> ServerReply {
        let (_, size) = path.split_once("/large-").unwrap();
        let size: usize = size.split('/').next().unwrap().parse().unwrap();
        let of = |pad: &str| json!({"name": "large", "pad": pad, "properties": {}});
        let pad = "x".repeat(size - of("").to_string().len());
        ServerReply::Answer(json(StatusCode::OK, &of(&pad)))
    }

    /// Returns the responses of the cluster `links-HOST-PORT`, in which all links lead to that host.
    fn foreign_link(request: &Request, path: &str) -> Option<ServerReply> {
        let (_, rest) = path.split_once("/links-")?;
        let (host, port) = rest.split('/').next()?.split_once('-')?;
        let link = format!("https://{host}:{port}/steal");
        let mut answer = json(StatusCode::OK, &json!({"value": [], "nextLink": link}));
        if request.method() != "GET" {
            answer = json(StatusCode::ACCEPTED, &json!({}));
            let name = if request.method() == "PUT" { "azure-asyncoperation" } else { "location" };
            answer.headers_mut().insert(name, link.parse().unwrap());
        }
        Some(ServerReply::Answer(answer))
    }
}

impl Service for Azure {
    fn call(&self, request: Request) -> BoxFuture<'static, ServerReply> {
        let path = request.uri().path().to_owned();
        self.0.lock().unwrap().push(format!("{} {path}", request.method()));
        let body = String::from_utf8_lossy(request.body()).into_owned();
        let signed = request
            .headers()
            .get("authorization")
            .is_some_and(|value| value == &format!("Bearer {TOKEN}"));
        let outcome = if path.ends_with("/oauth2/v2.0/token") {
            if body.contains(SECRET) {
                let token =
                    json!({"token_type": "Bearer", "expires_in": 3600, "access_token": TOKEN});
                ServerReply::Answer(json(StatusCode::OK, &token))
            } else {
                // A proxy may quote the request.
                let secret = body.split('&').find_map(|pair| pair.strip_prefix("client_secret="));
                let description = format!(
                    "AADSTS7000215: Invalid client secret provided: {}.",
                    secret.unwrap_or_default()
                );
                let error = json!({"error": "invalid_client", "error_codes": [7_000_215], "error_description": description});
                ServerReply::Answer(json(StatusCode::UNAUTHORIZED, &error))
            }
        } else if !signed {
            ServerReply::Answer(json(
                StatusCode::UNAUTHORIZED,
                &json!({"error": {"code": "AuthenticationFailed"}}),
            ))
        } else if path.ends_with("/demo") {
            ServerReply::Answer(json(
                StatusCode::OK,
                &json!({"name": "demo", "properties": {"provisioningState": "Succeeded"}}),
            ))
        } else if path.contains("/large-") {
            Self::large(&path)
        } else if path.ends_with("/cut") {
            ServerReply::CutShort(
                json(StatusCode::OK, &json!({"name": "cut", "properties": {}})),
                10,
            )
        } else if path.ends_with("/steal") || path.ends_with("/x") {
            ServerReply::Answer(json(StatusCode::OK, &json!({"status": "Succeeded"})))
        } else if let Some(outcome) = Self::foreign_link(&request, &path) {
            outcome
        } else if path.ends_with("/moved") {
            let mut moved = json(StatusCode::TEMPORARY_REDIRECT, &json!({}));
            moved
                .headers_mut()
                .insert("location", "https://127.0.0.1:9/elsewhere".parse().unwrap());
            ServerReply::Answer(moved)
        } else {
            ServerReply::Dropped
        };
        async move { outcome }.boxed()
    }
}

struct Setup {
    azure: Arc<Azure>,
    address: SocketAddr,
    cloud: Cloud,
    _files: tempfile::TempDir,
}

async fn set_up() -> Setup {
    let authority = CertificateAuthority::new().unwrap();
    let files = tempfile::tempdir().unwrap();
    let ca = files.path().join("ca.pem");
    std::fs::write(&ca, authority.pem()).unwrap();
    let listener = listen("127.0.0.1:0".parse().unwrap()).await.unwrap();
    let address = listener.local_addr().unwrap();
    let azure = Arc::new(Azure::default());
    let tls = authority.server(&["127.0.0.1"], &["http/1.1"]).unwrap();
    tokio::spawn(serve(listener, tls, Arc::<Azure>::clone(&azure)));
    let endpoint = Some(format!("https://{address}"));
    let settings =
        CloudSettings { authority: endpoint.clone(), endpoint, audience: None, ca: Some(ca) };
    Setup { azure, address, cloud: Cloud::new(settings).unwrap(), _files: files }
}

fn client(cloud: &Cloud, secret: &str) -> Client {
    let identity = identity::IdentitySettings {
        tenant: Some("11111111-2222-3333-4444-555555555555".to_owned()),
        client: Some("66666666-7777-8888-9999-000000000000".to_owned()),
        secret: Some(secret.into()),
        ..identity::IdentitySettings::default()
    };
    let real = Real::new(cloud, &identity).unwrap();
    Client::new(cloud.clone(), Arc::new(real), Budget::new(BudgetLimits::default()))
        // Longer than five attempts with the longest random pauses.
        .within(Duration::from_mins(1))
}

fn cluster(name: &str) -> ResourceId {
    ResourceId::cluster("s", "rg", name).unwrap()
}

#[tokio::test]
async fn cluster_is_read_with_a_token_from_the_sign_in_endpoint() {
    let setup = set_up().await;
    let client = client(&setup.cloud, SECRET);
    assert_eq!(client.cluster::<Cluster>(&cluster("demo")).await.unwrap().name, "demo");
    client.cluster::<Cluster>(&cluster("demo")).await.unwrap();
    let asked = setup.azure.0.lock().unwrap().clone();
    assert_eq!(
        asked.iter().filter(|line| line.ends_with("/oauth2/v2.0/token")).count(),
        1,
        "{asked:?}"
    );
    assert_eq!(asked.len(), 3, "{asked:?}");
}

#[tokio::test]
async fn error_of_a_wrong_secret_does_not_contain_it() {
    let setup = set_up().await;
    let wrong = "canary-wrong-9b";
    let error = client(&setup.cloud, wrong).cluster::<Cluster>(&cluster("demo")).await.unwrap_err();
    let text = format!("{error} {error:?}");
    assert!(matches!(error.kind, ErrorKind::Identity(_)), "{text}");
    assert!(text.contains("client secret") && text.contains("AADSTS7000215"), "{text}");
    assert!(text.contains("[secret]") && !text.contains(wrong), "{text}");
    assert_eq!(error.write_status, WriteStatus::NotApplied);
}

#[tokio::test]
async fn clock_is_the_system_clock_and_random_numbers_differ() {
    let identity = identity::IdentitySettings::default();
    let real = Real::new(&Cloud::new(CloudSettings::default()).unwrap(), &identity).unwrap();
    assert!(real.now() > "2026-01-01T00:00:00Z".parse().unwrap());
    assert_ne!(real.random(), real.random());
}

#[tokio::test]
async fn response_is_limited_to_32_mib() {
    let setup = set_up().await;
    let client = client(&setup.cloud, SECRET);
    let large = |bytes: usize| cluster(&format!("large-{bytes}"));
    assert_eq!(client.cluster::<Cluster>(&large(32 << 20)).await.unwrap().name, "large");
    // Not retried, since it may have been applied.
    let error = client.abort_cluster(&large((32 << 20) + 1)).await.unwrap_err();
    assert!(error.to_string().contains("response larger than 32 MiB"), "{error}");
    assert_eq!((error.write_status, error.call.attempts), (WriteStatus::Unknown, 1));
}

/// Returns a stored operation with this monitor.
fn kept(monitor: &str) -> Result<Operation, serde_json::Error> {
    serde_json::from_value(json!({
        "kind": "write",
        "monitor": {"status": monitor},
        "resource": "/subscriptions/s/x?api-version=v",
        "started": "2026-05-26T14:40:00Z",
        "next": "2026-05-26T14:40:00Z",
        "correlation_id": "c",
    }))
}

#[tokio::test]
async fn requests_stay_on_the_configured_origin() {
    let (setup, canary) = (set_up().await, set_up().await);
    let client = client(&setup.cloud, SECRET);
    let elsewhere = canary.address;
    for monitor in [
        format!("@{elsewhere}/steal"),
        format!("//{elsewhere}/steal"),
        format!("https://{elsewhere}/steal"),
        format!("/\\{elsewhere}/steal"),
        format!("/\t/{elsewhere}/steal"),
        format!(":443@{elsewhere}/steal"),
        format!(".{elsewhere}/steal"),
        // Stays on the origin.
        format!("/@{elsewhere}/steal"),
        format!("/x?next=https://{elsewhere}/steal"),
    ] {
        // Targets that are not rejected must lead to the configured cloud.
        if let Ok(mut operation) = kept(&monitor) {
            let before = setup.azure.0.lock().unwrap().len();
            client.poll(&mut operation).await.unwrap();
            assert!(setup.azure.0.lock().unwrap().len() > before, "{monitor:?}");
        }
    }
    let cluster = cluster(&format!("links-{}-{}", elsewhere.ip(), elsewhere.port()));
    let pool = cluster.child("agentPools", "p").unwrap();
    let body = json!({});
    let foreign = |error: mooring_arm::Error| {
        assert!(matches!(&error.kind, ErrorKind::ForeignLink(_)), "{error}");
    };
    foreign(client.agent_pools(&cluster).await.unwrap_err());
    foreign(client.put_agent_pool(&pool, &body, None).await.map(drop).unwrap_err());
    let deleted: Result<Started, _> = client.delete_agent_pool(&pool, &DeletePool::default()).await;
    foreign(deleted.unwrap_err());
    let asked = canary.azure.0.lock().unwrap().clone();
    assert!(asked.is_empty(), "{asked:?}");
}

/// Retries with real pauses; other tests have them in virtual time.
mod slow {
    use super::*;

    #[tokio::test]
    async fn write_status_is_unknown_only_after_a_sent_request() {
        let setup = set_up().await;
        let client = client(&setup.cloud, SECRET);
        let error = client.abort_cluster(&cluster("lost")).await.unwrap_err();
        assert_eq!((error.write_status, error.call.attempts), (WriteStatus::Unknown, 1), "{error}");
        let text = format!("{error} {error:?}");
        assert!(!text.contains(TOKEN), "{text}");

        // The token is cached; the port is closed now, so nothing can have been sent.
        let closed = CloudSettings {
            // No process listens on this port.
            endpoint: Some("https://127.0.0.1:1".to_owned()),
            authority: Some(format!("https://{}", setup.address)),
            audience: None,
            ca: setup.cloud.ca().map(std::path::Path::to_path_buf),
        };
        let closed = Cloud::new(closed).unwrap();
        let error =
            self::client(&closed, SECRET).abort_cluster(&cluster("lost")).await.unwrap_err();
        assert!(matches!(error.kind, ErrorKind::Transport(_)), "{error}");
        assert!(error.to_string().starts_with("no response from https://127.0.0.1:1: "), "{error}");
        assert_eq!(
            (error.write_status, error.call.attempts),
            (WriteStatus::NotApplied, 5),
            "{error}"
        );
    }

    #[tokio::test]
    async fn truncated_read_is_retried_and_redirects_are_not_followed() {
        let setup = set_up().await;
        let client = client(&setup.cloud, SECRET);
        let error = client.cluster::<Cluster>(&cluster("cut")).await.unwrap_err();
        assert!(matches!(error.kind, ErrorKind::Transport(_)), "{error}");
        assert_eq!(error.call.attempts, 5);
        let error = client.cluster::<Cluster>(&cluster("moved")).await.unwrap_err();
        assert!(
            matches!(&error.kind, ErrorKind::Server(refusal) if refusal.status == 307),
            "{error}"
        );
    }
}
