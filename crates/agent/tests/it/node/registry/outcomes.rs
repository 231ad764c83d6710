//! Outcomes of a login, each with its exit code and message.

use std::time::Duration;

use super::harness::{
    ANONYMOUS_TOKEN, Harness, UNAUTHORIZED, challenge, imds, jwt, refresh_token, registry,
};
use super::server::{DEAD_PORT, ReceivedRequest, Reply, Server};
use crate::support::EVENTS;

/// A registry that answers the exchange in its own way.
fn exchange(
    answer: impl Fn(&ReceivedRequest) -> Reply + Send + Sync + 'static,
) -> impl Fn(&ReceivedRequest) -> Reply + Send + Sync + 'static {
    move |seen| if seen.path() == "/oauth2/exchange" { answer(seen) } else { registry(seen) }
}

const SHORT: &[&str] = &["--attempt-timeout=3s", "--budget=6s"];

#[test]
fn a_login_hands_the_token_to_oras_by_standard_input_alone() {
    let mut lab = Harness::usual();
    lab.variables = vec![
        ("TLS_BOOTSTRAP_TOKEN".to_owned(), "canary-bootstrap".to_owned()),
        ("NO_PROXY".to_owned(), "example.com".to_owned()),
    ];
    let outcome = lab.run();
    outcome.must_be(0, &["logged in"]);
    assert_eq!(outcome.stdout, "");
    assert_eq!(lab.oras_got("stdin").unwrap(), refresh_token());
    let config = lab.node.at("/etc/oras/config.yaml");
    let argv = format!(
        "login\nmy.azurecr.io\n--identity-token-stdin\n--registry-config\n{}\n",
        config.display()
    );
    assert_eq!(lab.oras_got("argv").unwrap(), argv);
    let variables = lab.oras_got("env").unwrap();
    assert!(!variables.contains("canary") && !variables.contains("eyJhbGci"), "{variables}");
    assert!(!variables.contains("TLS_BOOTSTRAP_TOKEN"), "{variables}");
    for passed in ["SSL_CERT_FILE=", "NO_PROXY=example.com\n", "LANG=C\n"] {
        assert!(variables.contains(passed), "{variables}");
    }

    let asked = lab.imds.seen();
    assert_eq!(asked.len(), 1);
    assert_eq!(
        asked[0].target,
        "/metadata/identity/oauth2/token?api-version=2018-02-01\
         &resource=https%3A%2F%2Fcontainerregistry.azure.net%2F&client_id=my-client"
    );
    let exchanged = lab.registry.seen().pop().unwrap();
    assert_eq!((exchanged.method.as_str(), exchanged.path()), ("POST", "/oauth2/exchange"));
    assert_eq!(
        exchanged.body,
        "grant_type=access_token&service=my.azurecr.io&tenant=my-tenant\
         &access_token=canary.access~token-0123456789abcdef"
    );
    for step in ["identity", "exchange"] {
        assert_eq!(outcome.attempts(step), [(Some(200), None)]);
    }
    let files = lab.node.files();
    assert_eq!(files.keys().filter(|path| path.starts_with(EVENTS)).count(), 2);
}

#[test]
fn anonymous_access_needs_no_identity_and_no_login() {
    let open = |_: &ReceivedRequest| Reply::json(200, r#"{"repositories":["a"]}"#);
    let with_token = |seen: &ReceivedRequest| match (seen.path(), seen.header("authorization")) {
        ("/oauth2/token", _) => {
            assert!(seen.target.ends_with("scope=registry%3Acatalog%3A%2A"), "{}", seen.target);
            Reply::json(200, format!(r#"{{"access_token":"{ANONYMOUS_TOKEN}"}}"#))
        }
        (_, Some(bearer)) if bearer == format!("Bearer {ANONYMOUS_TOKEN}") => {
            Reply::json(200, r#"{"repositories":[]}"#)
        }
        _ => challenge(seen),
    };
    for lab in [Harness::new(open, imds), Harness::new(with_token, imds)] {
        lab.run().must_be(0, &["anonymous access"]);
        assert!(lab.imds.seen().is_empty());
        assert_eq!(lab.oras_got("argv"), None);
        // The login of an earlier run would be used in its place, so it is taken back.
        lab.node.write("/etc/oras/config.yaml", "{}");
        lab.run().must_be(0, &["anonymous access"]);
        assert!(lab.oras_got("argv").unwrap().starts_with("logout\nmy.azurecr.io\n"));
    }
}

#[test]
fn pulls_stay_anonymous_without_an_identity() {
    for words in [&["--client-id="][..], &["--tenant-id="]] {
        let lab = Harness::usual().with(words);
        lab.run().must_be(0, &["client id or tenant id is not set", "anonymously"]);
        assert!(lab.registry.seen().is_empty() && lab.imds.seen().is_empty());
    }
}

#[test]
fn a_missing_oras_is_never_reported_as_a_network_timeout() {
    let lab = Harness::usual();
    std::fs::remove_file(lab.node.typed("bin/oras")).unwrap();
    let outcome = lab.run();
    assert_eq!(outcome.code, 232, "{}", outcome.stderr);
    let expected =
        "\nERR_ORAS_BINARY_NOT_FOUND: step 1/6 oras: oras is missing on this image (PATH is ";
    assert!(outcome.stderr.contains(expected), "{}", outcome.stderr);
    assert!(outcome.stderr.contains("the network is not at fault"));
    assert!(lab.registry.seen().is_empty() && lab.imds.seen().is_empty(), "nobody was asked");
}

#[test]
fn an_oras_that_cannot_be_started_is_none() {
    let lab = Harness::usual();
    lab.node.write_typed("bin/oras", "#!/no/such/shell\n");
    lab.run().must_be(232, &["cannot be run"]);
    lab.node.write_typed("bin/oras", "\u{7f}ELF, and then nothing");
    lab.run().must_be(232, &["cut short"]);
    // 64 bits, the smaller end first, and no machine that there is.
    let mut foreign = b"\x7fELF\x02\x01\x01".to_vec();
    foreign.resize(64, 0);
    foreign[18..20].fill(0xee);
    lab.node.write_typed("bin/oras", foreign);
    lab.run().must_be(232, &["made for another machine"]);
}

#[test]
fn rejected_exchange_is_212_and_no_other_token_is_requested() {
    for status in [400, 401, 403] {
        let mut lab = Harness::new(exchange(move |_| Reply::json(status, UNAUTHORIZED)), imds);
        lab.variables =
            vec![("ARM_RESOURCE_ENDPOINT".to_owned(), "https://management.azure.com/".to_owned())];
        let outcome = lab.run();
        let expected = format!("denied with {status}: UNAUTHORIZED: authentication required");
        let audience = "(token for https://containerregistry.azure.net/)";
        outcome.must_be(212, &["step 4/6 exchange", &expected, audience, "AcrPull"]);
        assert_eq!(outcome.attempts("exchange"), [(Some(u64::from(status)), Some("refused"))]);
        assert_eq!(lab.oras_got("argv"), None);
        only_registry_tokens_were_requested(&lab);
    }
}

/// A token for Azure Resource Manager in the hands of a registry is the node's identity, everywhere.
fn only_registry_tokens_were_requested(lab: &Harness) {
    let requests = lab.imds.seen();
    assert_eq!(requests.len(), 1, "IMDS is asked for one token");
    let audience = "resource=https%3A%2F%2Fcontainerregistry.azure.net%2F";
    assert!(requests[0].target.contains(audience), "{}", requests[0].target);
}

#[test]
fn a_token_that_may_not_pull_is_212_and_never_reaches_oras() {
    let lab = Harness::new(
        exchange(|_| {
            let token = jwt(r#"{"permissions":{"actions":["write"]}}"#);
            Reply::json(200, format!(r#"{{"refresh_token":"{token}"}}"#))
        }),
        imds,
    );
    lab.run().must_be(212, &["step 5/6 permission", "lacks the permission to pull", "AcrPull"]);
    assert_eq!(lab.oras_got("argv"), None);
}

#[test]
fn a_token_that_lists_no_permissions_is_taken() {
    let token = || jwt(r#"{"sub":"abac"}"#);
    let lab = Harness::new(
        exchange(move |_| Reply::json(200, format!(r#"{{"refresh_token":"{}"}}"#, token()))),
        imds,
    );
    lab.run().must_be(0, &["logged in"]);
    assert_eq!(lab.oras_got("stdin").unwrap(), token());
}

#[test]
fn certificate_of_unknown_issuer_is_211_without_retry() {
    let lab = Harness::usual();
    let stranger = Harness::usual();
    let ca_file = stranger.node.typed("ca.pem").display().to_string();
    let outcome = lab.with(&["--ca-file", &ca_file]).run();
    outcome
        .must_be(211, &["TLS: invalid peer certificate: its issuer is not trusted", "--ca-file"]);
    assert_eq!(outcome.attempts("anonymous"), [(None, Some("certificate"))]);
}

#[test]
fn the_system_s_certificates_are_trusted_without_a_flag() {
    for file in ["/etc/ssl/certs/ca-certificates.crt", "/etc/pki/tls/certs/ca-bundle.crt"] {
        let lab = Harness::usual().with(&["--ca-file="]);
        let authority = std::fs::read(lab.node.typed("ca.pem")).unwrap();
        lab.node.write(file, authority);
        lab.run().must_be(0, &["logged in"]);
        assert!(!lab.oras_got("env").unwrap().contains("SSL_CERT_FILE"));
    }
}

#[test]
fn ca_file_without_certificates_is_reported() {
    let lab = Harness::usual();
    let empty = lab.node.write_typed("empty.pem", "no certificate");
    for (file, expected) in [(empty.as_str(), "no certificate in it"), ("/nosuch", "No such file")]
    {
        let outcome = Harness::usual().with(&["--ca-file", file]).run();
        outcome.must_be(1, &["registry-login failed: step 2/6 anonymous: --ca-file", expected]);
    }
}

#[test]
fn audience_that_imds_rejects_is_212_and_no_other_is_requested() {
    let lab = Harness::new(registry, |seen: &ReceivedRequest| match seen.before {
        0 => Reply::json(400, r#"{"error":"invalid_resource"}"#),
        _ => imds(seen),
    });
    let outcome = lab.run();
    outcome.must_be(212, &["step 3/6 identity", "invalid_resource", "containerregistry"]);
    assert_eq!(outcome.attempts("identity"), [(Some(400), Some("refused"))]);
    only_registry_tokens_were_requested(&lab);
}

mod slow {
    use super::*;

    #[test]
    fn a_silent_registry_is_211_and_a_time_out() {
        let lab = Harness::new(|_| Reply::Silence, imds).with(SHORT);
        let outcome = lab.run();
        outcome.must_be(211, &["timed out waiting for the response", "gave up after"]);
        assert_eq!(outcome.attempts("anonymous")[0], (None, Some("time-out")));
    }

    #[test]
    fn a_body_that_drips_cannot_outlast_the_attempt() {
        let drip = |_: &ReceivedRequest| {
            let head = "HTTP/1.1 200 OK\r\nContent-Length: 9999\r\n\r\n";
            Reply::Drip(head.into(), r#"{"refresh_token":""#.into())
        };
        let lab = Harness::new(exchange(drip), imds).with(SHORT);
        let outcome = lab.run();
        outcome.must_be(211, &["timed out reading the response body"]);
    }

    #[test]
    fn a_refused_connection_is_211() {
        let endpoint = format!("https://127.0.0.1:{DEAD_PORT}");
        let lab = Harness::usual().with(&["--registry-endpoint", &endpoint]).with(SHORT);
        let outcome = lab.run();
        outcome.must_be(211, &["cannot connect to 127.0.0.1:", "onnection refused"]);
        assert_eq!(outcome.attempts("anonymous")[0].1, Some("connect"));
    }

    #[test]
    fn a_name_without_an_address_is_211() {
        let lab =
            Harness::usual().with(&["--registry-endpoint=https://nosuch.invalid"]).with(SHORT);
        let outcome = lab.run();
        outcome.must_be(211, &["DNS: no address for nosuch.invalid", "private DNS zone"]);
        assert_eq!(outcome.attempts("anonymous")[0].1, Some("dns"));
    }

    #[test]
    fn a_server_without_tls_is_211() {
        let plain = Server::http(|_| Reply::Raw(b"HTTP/1.1 400 no TLS\r\n\r\n".to_vec()));
        let endpoint = format!("https://127.0.0.1:{}", plain.port());
        let outcome = Harness::usual().with(&["--registry-endpoint", &endpoint]).with(SHORT).run();
        outcome.must_be(211, &["TLS: "]);
        assert_eq!(outcome.attempts("anonymous")[0].1, Some("tls"));
    }

    #[test]
    fn invalid_response_is_211_after_three_attempts() {
        let portal = "<html>Please log in: refresh_token</html>";
        for (what, reply) in [
            ("a portal", Reply::json(200, portal)),
            ("no token", Reply::json(200, "{}")),
            ("a cut JSON", Reply::json(200, r#"{"refresh_token":"ab"#)),
            ("a redirect", Reply::json(302, "").header("Location", "https://127.0.0.1/")),
            ("no HTTP", Reply::Raw(b"SSH-2.0-OpenSSH\r\n".to_vec())),
            (
                "a flood",
                Reply::Raw([&b"HTTP/1.1 200 OK\r\n\r\n"[..], &vec![b'x'; 2 << 20]].concat()),
            ),
        ] {
            let lab = Harness::new(exchange(move |_| reply.clone()), imds);
            let outcome = lab.run();
            assert_eq!(outcome.code, 211, "{what}: {}", outcome.stderr);
            outcome.must_be(211, &["response", "in the registry's place"]);
            assert_eq!(outcome.attempts("exchange").len(), 3, "{what}");
            assert_eq!(outcome.attempts("exchange")[0].1, Some("nonsense"), "{what}");
        }
        // A portal that returns 200 for everything is also invalid.
        let outcome = Harness::new(move |_| Reply::json(200, portal), imds).run();
        outcome.must_be(211, &["step 2/6 anonymous", "not a list of repositories"]);
    }

    #[test]
    fn a_cut_answer_is_211_and_asked_again() {
        let cut = b"HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\n{\"refresh_token\":\"ab";
        let lab = Harness::new(
            exchange(move |seen| match seen.before {
                0 => Reply::Raw(cut.to_vec()),
                _ => registry(seen),
            }),
            imds,
        );
        let outcome = lab.run();
        outcome.must_be(0, &["logged in"]);
        assert_eq!(outcome.attempts("exchange"), [(None, Some("cut")), (Some(200), None)]);
        let outcome =
            Harness::new(exchange(move |_| Reply::Raw(cut.to_vec())), imds).with(SHORT).run();
        outcome.must_be(211, &["the connection was cut reading the response body"]);
    }

    #[test]
    fn throttled_login_waits_for_retry_after() {
        let throttled = |seen: &ReceivedRequest| match seen.before {
            0 => Reply::json(429, "").header("Retry-After", "2"),
            _ => registry(seen),
        };
        let outcome = Harness::new(exchange(throttled), imds).run();
        outcome.must_be(0, &["logged in"]);
        assert!(outcome.took >= Duration::from_secs(2), "{:?}", outcome.took);
        assert_eq!(outcome.attempts("exchange")[0], (Some(429), Some("throttled")));

        let for_an_hour = |_: &ReceivedRequest| Reply::json(429, "").header("Retry-After", "3600");
        let outcome = Harness::new(exchange(for_an_hour), imds).run();
        outcome.must_be(211, &["returned 429", "gave up after 1 attempt in"]);
    }

    #[test]
    fn an_imds_that_gives_no_answer_is_210() {
        let dead = format!("http://127.0.0.1:{DEAD_PORT}");
        let outcome = Harness::usual().with(&["--imds-endpoint", &dead]).with(SHORT).run();
        outcome.must_be(210, &["step 3/6 identity", "cannot connect", "169.254.169.254"]);

        let outcome = Harness::new(registry, |_| Reply::Silence).with(SHORT).run();
        outcome.must_be(210, &["step 3/6 identity", "timed out waiting for the response"]);
        let outcome = Harness::new(registry, |_| Reply::json(200, "<html>")).run();
        outcome.must_be(210, &["step 3/6 identity", "no access token in it"]);
    }

    #[test]
    fn output_of_oras_determines_the_exit_code() {
        let lab = Harness::usual().with(SHORT);
        lab.oras("echo 'Error response from registry: unauthorized: x' >&2; exit 1");
        lab.run().must_be(212, &["step 6/6 login", "oras login was denied"]);
        let lab = Harness::usual().with(SHORT);
        lab.oras("exec sleep 600");
        let outcome = lab.run();
        outcome.must_be(211, &["oras login timed out"]);
    }
}
