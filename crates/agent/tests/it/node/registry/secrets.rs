//! Tokens are never printed or written, regardless of their source.

use super::harness::{
    ACCESS_TOKEN, ANONYMOUS_TOKEN, Harness, LoginOutcome, challenge, imds, jwt, refresh_token,
};
use super::server::{ReceivedRequest, Reply};
use crate::node::canary::forms;

fn search(what: &str, lab: &Harness, outcome: &LoginOutcome) {
    let mut places = vec![
        ("standard output".to_owned(), outcome.stdout.clone().into_bytes()),
        ("standard error".to_owned(), outcome.stderr.clone().into_bytes()),
    ];
    places.extend(lab.node.files());
    let argv = lab.oras_got("argv").unwrap_or_default();
    let variables = lab.oras_got("env").unwrap_or_default();
    places.push(("argv".to_owned(), argv.into_bytes()));
    places.push(("environment".to_owned(), variables.into_bytes()));
    let no_pull = jwt(NO_PULL);
    for token in [ACCESS_TOKEN, ANONYMOUS_TOKEN, &refresh_token(), &no_pull] {
        for form in forms(token) {
            for (place, bytes) in &places {
                let hit = bytes.windows(form.len()).any(|window| window == form);
                assert!(!hit, "{what}: {place} holds {}", String::from_utf8_lossy(&form));
            }
        }
    }
}

const NO_PULL: &str = r#"{"permissions":{"actions":[]},"canary":"no pull"}"#;

/// A registry that shows every token it has seen, as an error.
fn indiscreet(seen: &ReceivedRequest, exchange: Reply) -> Reply {
    match seen.path() {
        "/v2/_catalog" if seen.header("authorization").is_some() => Reply::json(
            403,
            format!(r#"{{"errors":[{{"message":"{}"}}]}}"#, seen.header("authorization").unwrap()),
        ),
        "/v2/_catalog" => challenge(seen),
        "/oauth2/token" => Reply::json(200, format!(r#"{{"token":"{ANONYMOUS_TOKEN}"}}"#)),
        _ => exchange,
    }
}

#[test]
fn an_oras_that_shows_the_token_is_not_quoted_with_it() {
    for end in ["exit 0", "exit 1", "echo unauthorized; exit 1"] {
        let lab = Harness::usual();
        let stdin = lab.node.typed("oras.stdin");
        let stdin = stdin.display();
        lab.oras(&format!("cat {stdin}; base64 {stdin} >&2; head -c 40 {stdin} >&2; {end}"));
        let outcome = lab.run();
        assert_eq!(outcome.stderr.contains("[secret]"), end != "exit 0", "{}", outcome.stderr);
        search(end, &lab, &outcome);
    }
}

mod slow {
    use super::*;

    #[test]
    fn tokens_are_never_printed_by_any_outcome() {
        let echo = format!(r#"{{"errors":[{{"code":"DENIED","message":"{ACCESS_TOKEN}"}}]}}"#);
        let token = |token: String| format!(r#"{{"refresh_token":"{token}"}}"#);
        let cut =
            format!("HTTP/1.1 200 OK\r\nContent-Length: 9999\r\n\r\n{}", token(refresh_token()));
        for (what, code, exchange) in [
            ("success", 0, Reply::json(200, token(refresh_token()))),
            ("a refusal that quotes the token", 212, Reply::json(401, echo)),
            ("a server error", 211, Reply::json(500, format!(r#"{{"error":"{ACCESS_TOKEN}"}}"#))),
            ("no permission", 212, Reply::json(200, token(jwt(NO_PULL)))),
            ("a token in nonsense", 211, Reply::json(200, format!("{} x", token(refresh_token())))),
            ("a token in a cut answer", 211, Reply::Raw(cut.into_bytes())),
        ] {
            let lab = Harness::new(move |seen| indiscreet(seen, exchange.clone()), imds)
                .with(&["--budget=8s"]);
            let outcome = lab.run();
            assert_eq!(outcome.code, code, "{what}: {}", outcome.stderr);
            search(what, &lab, &outcome);
        }
    }

    #[test]
    fn token_at_the_cut_of_oras_output_is_masked_before() {
        // Half of a token in an excerpt of 500 characters would be left if the excerpt were taken first.
        for before in [420, 460, 485, 495] {
            let lab = Harness::usual();
            let stdin = lab.node.typed("oras.stdin");
            lab.oras(&format!("yes plain | head -c {before}; cat {}; exit 1", stdin.display()));
            let outcome = lab.run();
            assert_eq!(outcome.code, 1, "{}", outcome.stderr);
            assert!(outcome.stderr.contains("plain.plain"), "the output is quoted");
            let token = refresh_token();
            for written in
                lab.node.files().into_values().chain([outcome.stderr.clone().into_bytes()])
            {
                let written = String::from_utf8_lossy(&written).into_owned();
                assert!(!written.contains(&token[..4]), "{before}: {written}");
            }
        }
    }

    #[test]
    fn address_is_printed_without_its_query() {
        const CANARY: &str = "canary-of-the-query";
        let registry = |seen: &ReceivedRequest| {
            let host = seen.header("host").unwrap();
            let realm = format!(r#"Bearer realm="https://{host}/oauth2/token?code={CANARY}""#);
            match seen.path() {
                "/oauth2/token" => Reply::json(500, "{}"),
                _ => Reply::json(401, "{}").header("WWW-Authenticate", realm),
            }
        };
        let lab = Harness::new(registry, imds).with(&["--budget=3s"]);
        let outcome = lab.run();
        assert_eq!(outcome.code, 211, "{}", outcome.stderr);
        assert!(outcome.stderr.contains("/oauth2/token"), "{}", outcome.stderr);
        let written = lab.node.files().into_values();
        for bytes in written.chain([outcome.stdout.into_bytes(), outcome.stderr.into_bytes()]) {
            assert!(!String::from_utf8_lossy(&bytes).contains(CANARY));
        }
    }
}
