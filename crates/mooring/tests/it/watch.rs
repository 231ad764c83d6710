//! Tests of `status --watch` and `mooring` without a command.

use std::io::{BufRead as _, BufReader, Read as _};
use std::path::Path;
use std::process::Stdio;
use std::time::{Duration, Instant};

use crate::common::schema::assert_valid;
use crate::common::{Lab, Sim, Terminal};
use serde_json::Value;

/// Sends a request to the API server.
fn send(sim: &Sim, method: &str, path: &str, body: &str) {
    let kubeconfig = sim.variable("KUBECONFIG");
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let client = mooring_k8s::kubeconfig::client_by_file(Path::new(&kubeconfig)).await.unwrap();
        let request = http::Request::builder().method(method).uri(path);
        let request = request.header("content-type", "application/merge-patch+json");
        client.request_text(request.body(body.as_bytes().to_vec()).unwrap()).await.unwrap();
    });
}

mod slow {
    use super::*;

    #[test]
    fn status_is_redrawn_until_q_and_is_the_default_on_a_terminal() {
        let lab = Lab::start("oras-missing", &[]);
        let mut watched = Terminal::start(&mut lab.command(&["status", "-w"]), 80);
        watched.wait_for("POOL ");
        let start = Instant::now();
        while !watched.raw().contains("A\r\u{1b}[J") {
            assert!(start.elapsed() < Duration::from_mins(1), "not redrawn: {}", watched.raw());
            std::thread::sleep(Duration::from_millis(50));
        }
        watched.type_keys("q");
        let (code, shown) = watched.end();
        assert_eq!(code, 1, "{shown}");
        assert!(shown.contains("fails with OrasBinaryMissing"), "{shown}");

        let (code, shown) = Terminal::start(&mut lab.command(&[]), 80).end();
        assert_eq!(code, 1, "{shown}");
        assert!(shown.starts_with("demo · ") && shown.contains("Next "), "{shown}");
        let (code, _, help) = lab.run(&[]);
        assert!(code == 2 && help.contains("Usage: mooring"), "{help}");

        let mut child = lab.command(&["status", "-w"]).stderr(Stdio::null()).spawn().unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines().map(Result::unwrap);
        let shown: Vec<String> = lines.take_while(|line| !line.starts_with("system ")).collect();
        child.kill().unwrap();
        child.wait().unwrap();
        let heads = shown.iter().filter(|line| line.starts_with("POOL ")).count();
        assert!(heads == 1 && shown.iter().any(|line| line.starts_with("default ")), "{shown:?}");

        let mut child =
            lab.command(&["status", "-w", "-o", "json"]).stderr(Stdio::null()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        child.kill().unwrap();
        child.wait().unwrap();
        let document: Value = serde_json::from_str(&line).unwrap();
        assert_valid(&document);
        assert_eq!(document["schema"], "mooring.status/v1");
    }

    #[test]
    fn watch_lists_once_and_shows_changes() {
        let lab = Lab::start("oras-missing", &[]);
        let mut command = lab.command(&["status", "-w", "-v", "-o", "json", "--azure", "never"]);
        let mut child = command.spawn().unwrap();
        let mut errors = child.stderr.take().unwrap();
        let requests = std::thread::spawn(move || {
            let mut text = String::new();
            errors.read_to_string(&mut text).unwrap();
            text
        });
        let (sent, documents) = std::sync::mpsc::channel();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        std::thread::spawn(move || {
            lines.map_while(Result::ok).try_for_each(|line| sent.send(line))
        });
        // Waits for a document in which the pool has this many nodes, and this many of them are ready.
        let wait_for = |nodes: u64, ready: u64| loop {
            let line = documents.recv_timeout(Duration::from_mins(1)).unwrap();
            let document: Value = serde_json::from_str(&line).unwrap();
            let mut pools = document["pools"].as_array().unwrap().iter();
            let user = pools.find(|pool| pool["name"] == "user").unwrap();
            if (&user["nodes"], &user["ready"]) == (&nodes.into(), &ready.into()) {
                break;
            }
        };
        wait_for(2, 2);
        let not_ready = r#"{"status":{"conditions":[{"type":"Ready","status":"False"}]}}"#;
        send(&lab.sim, "PATCH", "/api/v1/nodes/aks-user-73852805-vmss000000/status", not_ready);
        wait_for(2, 1);
        send(&lab.sim, "DELETE", "/api/v1/nodes/aks-user-73852805-vmss000001", "");
        wait_for(1, 0);
        child.kill().unwrap();
        child.wait().unwrap();
        let requests = requests.join().unwrap();
        for list in ["/nodeclaims?resourceVersion=0", "/nodes?limit=500"] {
            assert_eq!(requests.matches(list).count(), 1, "{list}: {requests}");
        }
    }
}
