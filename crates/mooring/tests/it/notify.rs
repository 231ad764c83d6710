//! Tests of notifications of runs and of the controller, and of `mooring doctor --send-test`.

use std::collections::BTreeSet;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpListener;
use std::process::{Command, Output, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use crate::common::controller::{Process, controller, simulate};
use crate::common::schema::assert_valid;
use crate::common::{Sim, text};
use mooring_controller::notify::signature::sign;
use serde_json::Value;

const KEY: &str = "canary-key";

/// A received request: timestamp, signature and body.
struct Received {
    timestamp: String,
    signature: String,
    body: String,
}

/// Starts a hook that accepts everything. Returns its URL.
fn hook() -> (String, Receiver<Received>) {
    let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let url = format!("http://{}/canary-path", listener.local_addr().unwrap());
    let (sender, receiver) = channel();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            let mut reader = BufReader::new(stream.try_clone().unwrap());
            let mut headers = Vec::new();
            loop {
                let mut line = String::new();
                reader.read_line(&mut line).unwrap();
                if line.trim().is_empty() {
                    break;
                }
                headers.push(line.trim().to_owned());
            }
            let value = |name: &str| -> String {
                let header = headers.iter().filter_map(|line| line.split_once(':'));
                let mut header = header.filter(|(own, _)| own.eq_ignore_ascii_case(name));
                header.next().map(|(_, value)| value.trim().to_owned()).unwrap_or_default()
            };
            let mut body = vec![0; value("content-length").parse().unwrap()];
            reader.read_exact(&mut body).unwrap();
            stream
                .write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\nconnection: close\r\n\r\n")
                .unwrap();
            let request = Received {
                timestamp: value("mooring-timestamp"),
                signature: value("mooring-signature"),
                body: text(&body),
            };
            if sender.send(request).is_err() {
                return;
            }
        }
    });
    (url, receiver)
}

fn command(sim: &Sim, url: &str, args: &[&str]) -> Command {
    let mut command = crate::common::mooring();
    command.env_clear().envs(sim.environment()).args(args);
    command.env("MOORING_NOTIFY", r#"[{"name": "ops", "events": ["run"]}]"#);
    command.env("MOORING_NOTIFY_URL_0", url).env("MOORING_NOTIFY_HMAC_0", KEY);
    command
}

/// Repairs the pool with the approval of a plan.
fn repair(sim: &Sim, url: &str) -> Output {
    let plan = command(sim, url, &["repair", "plan", "-o", "json"]).output().unwrap();
    let plan: Value =
        serde_json::from_slice(&plan.stdout).unwrap_or_else(|_| panic!("{}", text(&plan.stderr)));
    let hash = plan["hash"].as_str().unwrap();
    let apply = ["repair", "apply", "--yes", "--plan-hash", hash];
    command(sim, url, &apply).output().unwrap()
}

fn wedged(state: &std::path::Path) -> Sim {
    let words = ["--scenario", "wedged-system-pool", "--kube-port", "0", "--speed", "600"];
    Sim::start(&state.join("sim"), &words)
}

#[test]
fn stopped_run_notifies_with_the_command_that_continues() {
    let state = tempfile::tempdir().unwrap();
    let words = ["--scenario", "retired-operator", "--kube-port", "0"];
    let sim = Sim::start(&state.path().join("sim"), &words);
    let (url, received) = hook();
    let plan = command(&sim, &url, &["finalizers", "plan", "-o", "json"]).output().unwrap();
    let plan: Value = serde_json::from_slice(&plan.stdout).unwrap();
    let hash = plan["hash"].as_str().unwrap();
    let apply = ["finalizers", "apply", "--yes", "--plan-hash", hash, "--timeout", "0"];
    let done = command(&sim, &url, &apply).output().unwrap();
    assert_eq!(done.status.code(), Some(5), "{}", text(&done.stderr));
    for (state, next) in [("started", 1), ("stopped", 2)] {
        let request = received.recv_timeout(Duration::from_mins(1)).unwrap();
        let document: Value = serde_json::from_str(&request.body).unwrap();
        assert_valid(&document);
        assert_eq!(document["state"], state, "{document}");
        assert_eq!(document["endedAt"].is_null(), state == "started", "{document}");
        assert_eq!(document["next"].as_array().unwrap().len(), next, "{document}");
    }
    assert!(received.try_recv().is_err(), "each is sent once");
    // A hook that cannot be reached is a warning.
    let closed = TcpListener::bind(("127.0.0.1", 0)).unwrap().local_addr().unwrap();
    let hash = {
        let plan = command(&sim, &url, &["finalizers", "plan", "-o", "json"]).output().unwrap();
        let plan: Value = serde_json::from_slice(&plan.stdout).unwrap();
        plan["hash"].as_str().unwrap().to_owned()
    };
    let resume = ["finalizers", "resume", "--yes", "--plan-hash", &hash, "--timeout", "0"];
    let done = command(&sim, &format!("http://{closed}/"), &resume).output().unwrap();
    let messages = text(&done.stderr);
    assert_eq!(messages.matches("warning: hook ops was not notified: ").count(), 2, "{messages}");
}

#[test]
fn doctor_tests_hooks_only_if_requested() {
    let state = tempfile::tempdir().unwrap();
    let sim = Sim::start(&state.path().join("sim"), &["--kube-port", "0"]);
    let (url, received) = hook();
    let doctor = |url: &str, flags: &[&str]| {
        let words = [&["doctor", "config", "--azure", "never"], flags].concat();
        command(&sim, url, &words).output().unwrap()
    };
    doctor(&url, &[]);
    assert!(received.try_recv().is_err());
    let tested = doctor(&url, &["--send-test"]);
    let shown = text(&tested.stdout);
    assert!(shown.contains("✓ hook ops accepted a test"), "{shown}{}", text(&tested.stderr));
    let request = received.recv_timeout(Duration::from_mins(1)).unwrap();
    let document: Value = serde_json::from_str(&request.body).unwrap();
    assert_valid(&document);
    assert_eq!((&document["event"], &document["state"]), (&"run".into(), &"test".into()));

    let closed = TcpListener::bind(("127.0.0.1", 0)).unwrap().local_addr().unwrap();
    let failed = doctor(&format!("http://{closed}/canary-path"), &["--send-test"]);
    let shown = text(&failed.stdout);
    assert_eq!(failed.status.code(), Some(1), "{shown}");
    assert!(shown.contains("✗ hook ops did not accept a test: no response"), "{shown}");
    assert!(!shown.contains("canary"), "{shown}");
}

mod slow {
    use super::*;

    #[test]
    fn bodies_of_the_controller_fit_their_schema() {
        let state = tempfile::tempdir().unwrap();
        let sim = simulate(state.path());
        let (url, received) = hook();
        let events = r#"[{"name": "ops", "events": ["finding", "pool-failing", "controller"]}]"#;
        let mut command = controller(&sim, "off");
        command.env("MOORING_NOTIFY", events).env("MOORING_NOTIFY_URL_0", url);
        let _controller = Process(command.stderr(Stdio::null()).spawn().unwrap());
        let mut missing = BTreeSet::from(["controller", "finding", "pool-failing"]);
        while !missing.is_empty() {
            let request = received.recv_timeout(Duration::from_mins(2));
            let request = request.unwrap_or_else(|_| panic!("missing {missing:?}"));
            let document: Value = serde_json::from_str(&request.body).unwrap();
            assert_eq!(document["schema"], "mooring.failure/v1");
            assert_valid(&document);
            missing.remove(document["event"].as_str().unwrap());
        }
    }

    #[test]
    fn hooks_are_notified_of_start_and_end_of_a_run() {
        let state = tempfile::tempdir().unwrap();
        let sim = wedged(state.path());
        let (url, received) = hook();
        let done = repair(&sim, &url);
        assert_eq!(done.status.code(), Some(0), "{}", text(&done.stderr));
        let mut run = None;
        for (expected, message) in [
            ("started", "Repair of pool system in demo started."),
            ("finished", "Repair of pool system in demo finished."),
        ] {
            let request = received.recv_timeout(Duration::from_mins(1)).unwrap();
            let document: Value = serde_json::from_str(&request.body).unwrap();
            assert_valid(&document);
            assert_eq!(
                (&document["schema"], &document["state"]),
                (&"mooring.run/v1".into(), &expected.into())
            );
            assert_eq!(document["message"], message);
            assert_eq!(
                (&document["workflow"], &document["subject"]),
                (&"repair".into(), &"system".into())
            );
            assert_eq!(document["cluster"]["name"], "demo");
            assert_eq!(document["next"][0]["command"], "mooring repair status --pool system");
            let id = document["id"].as_str().unwrap().to_owned();
            assert!(!id.is_empty() && *run.get_or_insert(id.clone()) == id, "{document}");
            let at = jiff::Timestamp::from_second(request.timestamp.parse().unwrap()).unwrap();
            assert_eq!(request.signature, sign(&KEY.into(), at, &request.body));
        }
        assert!(received.try_recv().is_err(), "each is sent once");
        // Nothing is changed, so nothing is sent.
        let again = command(&sim, &url, &["repair", "resume", "--yes"]).output().unwrap();
        assert_eq!(again.status.code(), Some(0), "{}", text(&again.stderr));
        assert!(received.try_recv().is_err());
    }

    #[test]
    fn hook_without_response_does_not_stop_a_run() {
        let state = tempfile::tempdir().unwrap();
        let sim = wedged(state.path());
        // Accepts connections and never responds.
        let silent = TcpListener::bind(("127.0.0.1", 0)).unwrap();
        let url = format!("http://{}/canary-path", silent.local_addr().unwrap());
        let done = repair(&sim, &url);
        let messages = text(&done.stderr);
        assert_eq!(done.status.code(), Some(0), "{messages}");
        let warning = "warning: hook ops was not notified: no response within 3s";
        assert_eq!(messages.matches(warning).count(), 2, "{messages}");
        assert!(!messages.contains("canary"), "{messages}");
    }
}
