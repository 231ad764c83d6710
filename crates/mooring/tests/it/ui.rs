//! `mooring ui` against `mooring sim`, without a browser.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::process::Stdio;
use std::time::Duration;

use serde_json::Value;

use crate::common::controller::{
    Process, controller, free_address, simulate, sourced, start_until, wait_for,
    wait_until_listening,
};
use crate::common::schema::assert_valid;
use crate::common::{Sim, Terminal, text};

/// Opens a connection, and sends a request.
fn send(host: &str, path: &str, cookie: &str) -> TcpStream {
    let mut stream = TcpStream::connect(host).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
    let request = format!(
        "GET {path} HTTP/1.1\r\nHost: {host}\r\nCookie: {cookie}\r\nConnection: close\r\n\r\n"
    );
    stream.write_all(request.as_bytes()).unwrap();
    stream
}

/// Sends a request, and returns the whole response.
fn get(host: &str, path: &str, cookie: &str) -> String {
    let mut response = String::new();
    send(host, path, cookie).read_to_string(&mut response).unwrap();
    response
}

/// Opens the address with the key, and returns the cookie.
fn open(host: &str, key: &str) -> String {
    let opened = get(host, &format!("/?key={key}"), "");
    assert!(opened.starts_with("HTTP/1.1 200 ") && opened.contains("refresh: 0; url=/\r\n"));
    let cookie = opened.lines().find_map(|line| line.strip_prefix("set-cookie: ")).unwrap();
    assert!(cookie.ends_with("; HttpOnly; SameSite=Strict; Path=/"), "{cookie}");
    assert!(!cookie.contains(key), "{cookie}");
    cookie.split(';').next().unwrap().to_owned()
}

/// A page: its host, and the cookie of its key.
struct Page {
    host: String,
    cookie: String,
}

impl Page {
    /// Starts `mooring ui --local`.
    fn start(sim: &Sim) -> (Process, Self) {
        let mut command = sourced(sim);
        command.args(["ui", "--local", "--no-browser"]);
        let (process, address) = start_until(&mut command, "http://");
        let (host, key) = address.split_once("/?key=").unwrap();
        let cookie = open(host, key);
        (process, Self { host: host.to_owned(), cookie })
    }

    /// Returns a document, which fits its published schema; none if nothing is read yet.
    fn try_document(&self, path: &str, schema: &str) -> Option<Value> {
        let response = get(&self.host, &format!("/api/v1/{path}"), &self.cookie);
        let (head, body) = response.split_once("\r\n\r\n").unwrap();
        if head.starts_with("HTTP/1.1 503 ") {
            return None;
        }
        assert!(head.starts_with("HTTP/1.1 200 "), "{path}: {response}");
        let document: Value = serde_json::from_str(body).unwrap();
        assert_eq!(document["schema"], schema, "{path}");
        assert_valid(&document);
        Some(document)
    }

    fn document(&self, path: &str, schema: &str) -> Value {
        wait_for(path, || self.try_document(path, schema))
    }

    /// Validates every document of a cluster with failed nodes, and an event.
    fn assert_documents(&self) {
        let failures = || {
            let document = self.try_document("failures", "mooring.page.failures/v1")?;
            (!document["failures"].as_array()?.is_empty()).then_some(document)
        };
        let failures = wait_for("failures", failures);
        assert_eq!(failures["failures"][0]["failure"]["cause"], "OrasBinaryMissing", "{failures}");
        for (path, schema) in [
            ("status", "mooring.status/v1"),
            ("fleet", "mooring.fleet/v1"),
            ("fleet?since=1h&pool=default", "mooring.fleet/v1"),
            ("nodes", "mooring.page.nodes/v1"),
            ("nodes/default-bad1", "mooring.page.node/v1"),
            ("nodes/default-good1", "mooring.page.node/v1"),
            ("pools", "mooring.page.pools/v1"),
            ("runs", "mooring.page.runs/v1"),
            ("controller", "mooring.page.controller/v1"),
        ] {
            self.document(path, schema);
        }
        let stream = BufReader::new(send(&self.host, "/api/v1/events", &self.cookie));
        let mut lines = stream.lines().map(Result::unwrap);
        let data = lines.find_map(|line| line.strip_prefix("data: ").map(str::to_owned));
        let event: Value = serde_json::from_str(&data.unwrap()).unwrap();
        assert_eq!(event["schema"], "mooring.page.event/v1");
        assert_valid(&event);
    }
}

#[test]
fn documents_of_the_page_fit_their_schemas() {
    let state = tempfile::tempdir().unwrap();
    let sim = simulate(state.path());
    let (_ui, page) = Page::start(&sim);
    page.assert_documents();
    let controller = page.document("controller", "mooring.page.controller/v1");
    assert!(controller["details"].is_null(), "{controller}");
}

#[test]
fn page_without_a_controller_shows_own_reads() {
    let state = tempfile::tempdir().unwrap();
    let sim = simulate(state.path());
    let mut command = sourced(&sim);
    command.args(["ui", "--no-browser", "--azure", "never"]);
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut ui = Process(child);
    let mut lines = BufReader::new(ui.0.stdout.take().unwrap()).lines().map(Result::unwrap);
    let address = lines.next().unwrap();
    let address =
        address.strip_prefix("✓ http://").unwrap().strip_suffix("  (Ctrl-C ends it)").unwrap();
    assert_eq!(lines.next().unwrap(), "Shows       demo, from your own reads");
    let (host, key) = address.split_once("/?key=").unwrap();
    assert!(host.starts_with("127.0.0.1:") && key.len() == 32, "{address}");

    assert!(get(host, "/", "").starts_with("HTTP/1.1 403 "));
    let cookie = &open(host, key);
    let again = get(host, &format!("/?key={key}"), "");
    assert!(again.starts_with("HTTP/1.1 403 "), "{again}");
    let status = loop {
        let status = get(host, "/api/v1/status", cookie);
        // Nothing is read yet.
        if !status.starts_with("HTTP/1.1 503 ") {
            break status;
        }
    };
    assert!(status.contains("\"schema\": \"mooring.status/v1\""), "{status}");
    assert!(get(host, "/", cookie).contains("No controller runs in this cluster."));

    ui.0.kill().unwrap();
    let mut messages = String::new();
    ui.0.stderr.take().unwrap().read_to_string(&mut messages).unwrap();
    let expected = "warning: the page of the controller cannot be used, so the cluster is read with your permissions: no controller is running\nhint: ";
    assert!(messages.starts_with(expected), "{messages}");
}

#[cfg(not(target_os = "macos"))]
#[test]
fn browser_is_started_from_a_terminal_with_a_display_only() {
    use std::os::unix::fs::PermissionsExt as _;
    let state = tempfile::tempdir().unwrap();
    let sim = simulate(&state.path().join("sim"));
    let opener = state.path().join("xdg-open");
    // The file is gone when the command has ended.
    let script =
        "#!/bin/sh\n/bin/ls -l \"$1\" >> \"$0.opened\"\n/bin/cat \"$1\" >> \"$0.opened\"\n";
    std::fs::write(&opener, script).unwrap();
    std::fs::set_permissions(&opener, std::fs::Permissions::from_mode(0o755)).unwrap();
    let log = state.path().join("xdg-open.opened");
    let ui = |display: &str| {
        let mut command = sourced(&sim);
        command.args(["ui", "--local"]).env("PATH", state.path()).env("DISPLAY", display);
        command
    };
    start_until(&mut ui(":0"), "http://");
    Terminal::start(&mut ui(""), 120).wait_for("  (Ctrl-C ends it)");
    let mut terminal = Terminal::start(&mut ui(":0"), 120);
    terminal.wait_for("  (opened in your browser; Ctrl-C ends it)");
    let urls = wait_for("the browser", || {
        std::fs::read_to_string(&log).ok().filter(|urls| urls.ends_with("</a>\n"))
    });
    // Not in its arguments, and readable for the user only.
    assert!(urls.starts_with("-rw------- ") && urls.matches(".html\n").count() == 1, "{urls}");
    assert_eq!(urls.lines().next().unwrap().matches("key=").count(), 0, "{urls}");
    let url = urls.split("url=").nth(1).unwrap().split('"').next().unwrap();
    assert!(url.starts_with("http://127.0.0.1:") && terminal.shown().contains(url), "{urls}");
}

mod slow {
    use super::*;

    #[test]
    fn documents_of_the_controllers_page_fit_their_schemas() {
        let state = tempfile::tempdir().unwrap();
        let sim = simulate(state.path());
        let address = free_address();
        let mut command = controller(&sim, &address);
        let _controller = Process(command.stderr(Stdio::null()).spawn().unwrap());
        wait_until_listening(&address);
        let page = Page { host: address, cookie: String::new() };
        page.assert_documents();
        let runs = page.document("runs", "mooring.page.runs/v1");
        assert_eq!(runs["runs"], serde_json::json!([]), "{runs}");
    }

    #[test]
    fn runs_of_the_page_fit_their_schema() {
        let state = tempfile::tempdir().unwrap();
        let words = ["--scenario", "wedged-system-pool", "--kube-port", "0", "--speed", "600"];
        let sim = Sim::start(state.path(), &words);
        let plan = sourced(&sim).args(["repair", "plan", "-o", "json"]).output().unwrap();
        let plan: Value = serde_json::from_slice(&plan.stdout).unwrap();
        let apply = ["repair", "apply", "--yes", "--plan-hash", plan["hash"].as_str().unwrap()];
        let done = sourced(&sim).args(apply).output().unwrap();
        assert_eq!(done.status.code(), Some(0), "{}", text(&done.stderr));
        let (_ui, page) = Page::start(&sim);
        let runs = page.document("runs", "mooring.page.runs/v1");
        let run = &runs["runs"][0];
        assert_eq!((&run["pool"], &run["state"]), (&"system".into(), &"repaired".into()), "{runs}");
        assert_eq!(run["steps"].as_array().unwrap().len(), 16);
        let path = format!("runs/{}", run["runId"].as_str().unwrap());
        assert_eq!(page.document(&path, "mooring.page.runs/v1")["runs"][0]["runId"], run["runId"]);

        let address = free_address();
        let _controller =
            Process(controller(&sim, &address).stderr(Stdio::null()).spawn().unwrap());
        wait_until_listening(&address);
        let page = Page { host: address, cookie: String::new() };
        let of_controller = page.document(&path, "mooring.page.runs/v1");
        assert_eq!(of_controller["runs"], runs["runs"]);
    }
}
