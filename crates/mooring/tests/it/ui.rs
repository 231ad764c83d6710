//! `mooring ui` against `mooring sim`, without a browser.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::process::Stdio;
use std::time::Duration;

use crate::common::controller::{Process, simulate, sourced};

/// Sends a request, and returns the whole response.
fn get(host: &str, path: &str, cookie: &str) -> String {
    let mut stream = TcpStream::connect(host).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
    let request = format!(
        "GET {path} HTTP/1.1\r\nHost: {host}\r\nCookie: {cookie}\r\nConnection: close\r\n\r\n"
    );
    stream.write_all(request.as_bytes()).unwrap();
    let mut response = String::new();
    stream.read_to_string(&mut response).unwrap();
    response
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
    let opened = get(host, &format!("/?key={key}"), "");
    assert!(opened.starts_with("HTTP/1.1 303 ") && opened.contains("location: /\r\n"), "{opened}");
    let cookie = opened.lines().find_map(|line| line.strip_prefix("set-cookie: ")).unwrap();
    assert!(cookie.ends_with("; HttpOnly; SameSite=Strict; Path=/"), "{cookie}");
    let cookie = cookie.split(';').next().unwrap();
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
