//! Tests of `mooring why` without Azure.

use std::net::TcpListener;
use std::process::Output;

use crate::common::controller::{simulate, sourced};
use crate::common::text;

#[test]
fn verbose_names_each_request_without_secrets() {
    let state = tempfile::tempdir().unwrap();
    let sim = simulate(state.path());
    let quiet = sourced(&sim).args(["why", "default-bad1"]).output().unwrap();
    assert!(!text(&quiet.stderr).contains("request sent"), "{}", text(&quiet.stderr));
    let verbose = sourced(&sim).args(["why", "default-bad1", "-v"]).output().unwrap();
    let messages = text(&verbose.stderr);
    for expected in
        ["request sent to Kubernetes method=GET path=\"/api/v1/nodes?", "request sent to Azure "]
    {
        let line = messages.lines().find(|line| line.starts_with(expected));
        assert!(line.is_some_and(|line| line.contains("milliseconds=")), "{expected}: {messages}");
    }
    for (name, value) in sim.environment() {
        let is_secret = name.contains("SECRET") || name.contains("TOKEN");
        assert!(!is_secret || !messages.contains(&value), "{name}");
    }
    assert_eq!(text(&verbose.stdout).lines().next(), text(&quiet.stdout).lines().next());
}

mod slow {
    use super::*;

    #[test]
    fn hanging_sign_in_is_named_and_the_answer_is_without_azure() {
        let state = tempfile::tempdir().unwrap();
        let sim = simulate(state.path());
        // Accepts connections and never responds.
        let silent = TcpListener::bind(("127.0.0.1", 0)).unwrap();
        let authority = format!("https://127.0.0.1:{}", silent.local_addr().unwrap().port());
        let run = |words: &[&str]| -> Output {
            let mut command = sourced(&sim);
            command.env("AZURE_AUTHORITY_HOST", &authority).args(words);
            command.args(["--timeout", "3s"]).output().unwrap()
        };
        let output = run(&["why", "default-bad1"]);
        let (shown, messages) = (text(&output.stdout), text(&output.stderr));
        assert!(shown.starts_with("✗ default-bad1 is joining demo for "), "{shown}");
        assert!(shown.contains("; Azure failed\n"), "{shown}");
        for expected in [
            "signing in to Azure by client secret, continuing without it after 3s\n",
            "warning: Azure was not read: not signed in: no response by client secret within 3s\n",
        ] {
            assert!(messages.contains(expected), "{messages}");
        }
        let required = run(&["why", "default-bad1", "--azure", "always"]);
        assert_eq!(required.status.code(), Some(3), "{}", text(&required.stderr));
        // The name may be that of a VM, so it is not reported as unknown.
        let unknown = run(&["why", "aks-nothing-like-it"]);
        let messages = text(&unknown.stderr);
        assert_eq!(unknown.status.code(), Some(3), "{messages}");
        assert!(messages.contains("is called `aks-nothing-like-it`"), "{messages}");
        assert!(messages.contains("; Azure was not read: not signed in"), "{messages}");
    }
}
