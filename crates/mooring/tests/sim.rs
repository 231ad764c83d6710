//! `mooring sim` as a person starts it.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::disallowed_methods,
    reason = "tests"
)]

mod common;

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::time::Duration;

use common::Sim;
use rustls::pki_types::pem::PemObject as _;

const PATIENCE: Duration = Duration::from_secs(30);

/// One request over TLS, trusting the simulation's own authority only.
fn ask(sim: &Sim, state: &Path, head: &str, body: &str) -> String {
    let mut roots = rustls::RootCertStore::empty();
    roots
        .add(rustls::pki_types::CertificateDer::from_pem_file(state.join("ca.pem")).unwrap())
        .unwrap();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = rustls::ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(roots)
        .with_no_client_auth();
    let connection =
        rustls::ClientConnection::new(Arc::new(config), "127.0.0.1".try_into().unwrap()).unwrap();
    let tcp = TcpStream::connect(("127.0.0.1", sim.port)).unwrap();
    tcp.set_read_timeout(Some(PATIENCE)).unwrap();
    let mut stream = rustls::StreamOwned::new(connection, tcp);
    let length = body.len();
    write!(stream, "{head} HTTP/1.1\r\nHost: 127.0.0.1:{}\r\nConnection: close\r\nContent-Length: {length}\r\n\r\n{body}", sim.port).unwrap();
    let mut answer = Vec::new();
    // A server that closes without a farewell has still answered.
    let _ = stream.read_to_end(&mut answer);
    String::from_utf8_lossy(&answer).into_owned()
}

#[test]
fn it_serves_its_files_and_its_port_and_ends_when_told() {
    let state = tempfile::tempdir().unwrap();
    let state = state.path().join("new");
    let mut sim = Sim::start(&state, &["--scenario", "oras-missing"]);
    let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!((mode(&state), mode(&state.join("env.sh"))), (0o700, 0o600));
    let environment = std::fs::read_to_string(state.join("env.sh")).unwrap();
    assert!(
        environment.lines().all(|line| line.starts_with("export ") && line.ends_with('\'')),
        "{environment}"
    );
    for name in [
        "AZURE_TENANT_ID",
        "AZURE_CLIENT_SECRET",
        "AZURE_AUTHORITY_HOST",
        "SUBSCRIPTION_ID",
        "RESOURCE_GROUP",
        "CLUSTER_NAME",
    ] {
        assert!(environment.contains(&format!("export {name}='")), "{name}");
    }

    let form = "grant_type=client_credentials&client_id=00000000-0000-0000-0000-00000000000c&client_secret=simulated-secret&scope=x/.default";
    let token =
        ask(&sim, &state, "POST /00000000-0000-0000-0000-00000000000a/oauth2/v2.0/token", form);
    assert!(token.starts_with("HTTP/1.1 200") && token.contains("access_token"), "{token}");
    let refused = ask(&sim, &state, "GET /subscriptions?api-version=2022-12-01", "");
    assert!(refused.starts_with("HTTP/1.1 401"), "{refused}");
    let inside = ask(&sim, &state, "GET /admin/state", "");
    assert!(inside.contains("aks-default-bad5"), "{inside}");

    let told = Command::new("kill").args(["-TERM", &sim.child.id().to_string()]).status().unwrap();
    assert!(told.success());
    assert!(sim.child.wait().unwrap().success(), "SIGTERM is a clean end");
}

#[test]
fn a_bad_scenario_is_a_sentence_with_file_and_line() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("mine.yaml");
    std::fs::write(&file, "description: x\nwedge:\n  pol: system\n").unwrap();
    let told = |scenario: &str| {
        let output = Command::new(env!("CARGO_BIN_EXE_mooring"))
            .args(["sim", "--scenario", scenario])
            .output()
            .unwrap();
        (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
    };
    let (code, text) = told(file.to_str().unwrap());
    assert_eq!(code, Some(2), "{text}");
    assert!(
        text.contains("mine.yaml") && text.contains("line 3") && text.contains("hint:"),
        "{text}"
    );
    let (code, text) = told("nosuch");
    assert_eq!(code, Some(2));
    assert!(text.contains("wedged-system-pool"), "{text}");
}
