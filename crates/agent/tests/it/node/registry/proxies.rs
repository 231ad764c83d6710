//! The registry may be reached through a proxy, IMDS never.

use super::harness::{Harness, imds};
use super::server::{Proxy, Reply, proxy};

const PASSWORD: &str = "canary-proxy-password";

/// A lab whose registry is only to be reached through a proxy, since its name has no address.
fn with_proxy(status: u16) -> (Harness, Proxy) {
    let registry = |seen: &super::server::ReceivedRequest| match seen.path() {
        // Not the port that the client connects to.
        "/v2/_catalog" => Reply::json(401, ""),
        _ => super::harness::registry(seen),
    };
    let mut lab = Harness::new(registry, imds).with(&["--registry-endpoint=https://registry.test"]);
    let proxy = proxy(lab.registry.port(), move |_| status);
    let url = format!("http://user:{PASSWORD}@127.0.0.1:{}", proxy.port);
    lab.variables = ["HTTPS_PROXY", "HTTP_PROXY", "http_proxy"]
        .map(|name| (name.to_owned(), url.clone()))
        .into();
    (lab, proxy)
}

#[test]
fn a_proxy_is_used_for_the_registry_and_never_for_imds() {
    let (lab, proxy) = with_proxy(200);
    let outcome = lab.run();
    outcome.must_be(0, &["logged in"]);
    let asked = proxy.seen();
    assert_eq!(asked.len(), 2, "catalogue and exchange");
    for request in asked {
        assert_eq!((request.method.as_str(), &*request.target), ("CONNECT", "registry.test:443"));
        // user:canary-proxy-password
        let credentials = "Basic dXNlcjpjYW5hcnktcHJveHktcGFzc3dvcmQ=";
        assert_eq!(request.header("proxy-authorization"), Some(credentials));
    }
    assert_eq!(lab.imds.seen().len(), 1);
    assert!(!outcome.stderr.contains(PASSWORD));
}

#[test]
fn a_proxy_that_refuses_is_211_and_not_asked_again() {
    let (lab, proxy) = with_proxy(407);
    let outcome = lab.run();
    outcome.must_be(211, &["the proxy 127.0.0.1 returned 407", "HTTPS_PROXY"]);
    assert_eq!(outcome.attempts("anonymous"), [(None, Some("proxy"))]);
    assert_eq!(proxy.seen().len(), 1);
    assert!(!outcome.stderr.contains(PASSWORD));
}

mod slow {
    use super::*;

    #[test]
    fn an_exception_leads_past_the_proxy() {
        let (mut lab, proxy) = with_proxy(200);
        lab.variables.push(("NO_PROXY".to_owned(), "example.com,.test".to_owned()));
        let outcome = lab.with(&["--budget=8s"]).run();
        outcome.must_be(211, &["DNS: no address for registry.test"]);
        assert!(proxy.seen().is_empty());
    }
}
