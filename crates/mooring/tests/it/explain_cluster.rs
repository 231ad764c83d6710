//! `mooring explain CAUSE` with the failures of the cluster.

use std::net::TcpListener;
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::common::controller::{start_controller, wait_for};
use crate::common::schema::assert_valid;
use crate::common::{Lab, alone, end};

const CAUSE: [&str; 2] = ["explain", "OrasBinaryMissing"];

fn last_line(shown: &str) -> &str {
    shown.lines().last().unwrap_or_default()
}

#[test]
fn cause_without_a_context_has_no_line_of_a_cluster() {
    let home = tempfile::tempdir().unwrap();
    let command = |words: &[&str]| end(&mut alone(home.path(), words));
    let (code, shown, messages) = command(&CAUSE);
    assert_eq!((code, messages.as_str()), (0, ""));
    assert!(!shown.contains("\nIn "), "{shown}");
    let (_, shown, _) = command(&["explain", CAUSE[1], "-o", "json"]);
    let document: Value = serde_json::from_str(&shown).unwrap();
    assert_eq!(document["cluster"], Value::Null);
    assert_eq!(document["sources"].as_array().map(Vec::len), Some(0), "{document}");
    assert_eq!(document["rows"], Value::Null, "not read is not none");
    // A kubeconfig without a current context selects no cluster.
    let file = home.path().join("config");
    std::fs::write(&file, "contexts: [{name: c, context: {cluster: x, user: u}}]\n").unwrap();
    let (code, shown, messages) = end(alone(home.path(), &CAUSE).env("KUBECONFIG", &file));
    assert_eq!((code, messages.as_str()), (0, ""));
    assert!(!shown.contains("\nIn "), "{shown}");
    let (code, _, messages) =
        command(&["explain", CAUSE[1], "--kubeconfig", file.to_str().unwrap(), "--context", "d"]);
    assert_eq!(code, 2, "{messages}");
    assert!(messages.contains("hint: did you mean `c`?"), "{messages}");
}

#[test]
fn silent_api_server_is_not_waited_for() {
    let lab = Lab::start("oras-missing", &[]);
    let mut config = lab.kubeconfig();
    // Accepts connections and never responds.
    let silent = TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let port = silent.local_addr().unwrap().port();
    config["clusters"][0]["cluster"]["server"] = format!("https://127.0.0.1:{port}").into();
    let file = lab.write_kubeconfig(&config);
    let start = Instant::now();
    let (code, shown, messages) = lab.run(&[&CAUSE[..], &["--kubeconfig", &file]].concat());
    assert!(start.elapsed() < Duration::from_secs(10), "{:?}", start.elapsed());
    assert_eq!(code, 3, "{messages}");
    let expected = "In cluster  not read: the Kubernetes API did not respond within 2s";
    assert_eq!(last_line(&shown), expected);
    assert!(!messages.contains("error:"), "{messages}");
}

mod slow {
    use super::*;

    #[test]
    fn cause_has_its_failures_in_the_cluster() {
        let lab = Lab::start("oras-missing", &[]);
        let (code, shown, _) = lab.run(&CAUSE);
        assert_eq!(code, 0, "{shown}");
        // Without a controller, Azure has the results, as in `why`.
        let line = last_line(&shown);
        assert!(line.starts_with("In demo     5 of 5 nodes on 202601.27.0, last "), "{line}");
        assert!(line.ends_with(" (from nodes that exist)"), "{line}");

        let _controller = start_controller(&lab.sim, "off");
        let shown = wait_for("the record", || {
            let shown = lab.run(&CAUSE).1;
            last_line(&shown).ends_with(" (from the failure record)").then_some(shown)
        });
        let line = last_line(&shown);
        assert!(line.starts_with("In demo     5 of 5 nodes on 202601.27.0, last "), "{line}");
        let markdown = lab.run(&["explain", CAUSE[1], "-o", "markdown"]).1;
        assert!(last_line(&markdown).starts_with("- **In demo:** 5 of 5 nodes on "), "{markdown}");

        let (_, document) = lab.json(&CAUSE);
        assert_valid(&document);
        assert_eq!(document["cluster"]["name"], "demo");
        let states: Vec<&Value> =
            document["sources"].as_array().unwrap().iter().map(|source| &source["state"]).collect();
        // Azure is asked only if a node has no diagnosis yet.
        assert_eq!(states[..2], ["read", "read"]);
        assert!(["read", "not-asked"].iter().any(|state| states[2] == state), "{document:#}");
        assert_eq!(document["rows"][0]["here"]["failed"], 5, "{document:#}");
    }
}
