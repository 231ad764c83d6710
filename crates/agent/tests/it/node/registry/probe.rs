//! `preflight --network` against a registry on loopback.

use super::server::{Authority, Reply, Server};
use crate::support::{Node, end_of, write_program};

/// Verdict, summary and action of the registry's probe, for a registry that responds so.
fn probed(status: u16) -> (String, String, String) {
    let authority = Authority::new();
    let registry = Server::https(&authority, move |seen| {
        assert_eq!((seen.method.as_str(), seen.target.as_str()), ("GET", "/v2/"));
        assert_eq!(seen.header("authorization"), None);
        Reply::json(status, "{}")
    });
    let node = Node::with_script("");
    node.write("/etc/ssl/certs/ca-certificates.crt", authority.pem());
    write_program(&node.typed("bin/oras"), "#!/bin/sh\n", 0o755);
    let config = format!(
        r#"{{"version": "v1", "bootstrap_profile_container_registry_server": "127.0.0.1:{}"}}"#,
        registry.port()
    );
    let config = node.write_typed("config.json", config);
    let words = ["preflight", "--provision-config", &config, "-o", "json", "--network"];
    let words = [&words[..], &["--imds-endpoint", "http://127.0.0.1:1"]].concat();
    let path = format!("{}:/usr/bin:/bin", node.typed("bin").display());
    let output = end_of(node.command(&words).env("PATH", path).spawn().unwrap());
    assert_eq!(output.status.code(), Some(0));
    assert_eq!(registry.seen().len(), 1);
    let report: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let mut findings = report["findings"].as_array().unwrap().iter();
    let finding = findings.find(|finding| finding["check"] == "registry").unwrap();
    let text = |name: &str| finding[name].as_str().unwrap_or_default().to_owned();
    (text("verdict"), text("summary"), text("action"))
}

#[test]
fn registry_that_asks_for_a_login_is_reachable() {
    for status in [200, 401, 403, 404] {
        let (verdict, summary, _) = probed(status);
        assert_eq!(verdict, "pass", "{status}");
        assert!(summary.ends_with(&format!(" responds ({status})")), "{summary}");
    }
    for status in [500, 503] {
        let (verdict, summary, action) = probed(status);
        assert_eq!(verdict, "warning", "{status}");
        assert!(summary.ends_with(&format!(" returns {status}")), "{summary}");
        assert!(action.contains("registry"), "{action}");
    }
}

#[test]
fn imds_passes_only_with_an_answer() {
    for (status, expected) in
        [(200, ["pass", "IMDS responds"]), (404, ["warning", "IMDS returns 404"])]
    {
        let imds = Server::http(move |seen| {
            assert_eq!(seen.header("metadata"), Some("true"));
            Reply::json(status, "eastus")
        });
        let node = Node::with_script("");
        let words = ["preflight", "-o", "json", "--network", "--imds-endpoint"];
        let output = node.run(&[&words[..], &[imds.url().as_str()]].concat());
        let report: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        let mut findings = report["findings"].as_array().unwrap().iter();
        let finding = findings.find(|finding| finding["check"] == "imds").unwrap();
        let found = ["verdict", "summary"].map(|name| finding[name].as_str().unwrap());
        assert_eq!(found, expected);
        assert_eq!(imds.seen().len(), 1);
    }
}
