//! Costs of open pages for the controller: memory, no reads of Azure, and the time of verdicts, which is printed.

use std::fmt::Write as _;
use std::io::{BufRead as _, BufReader, Write as _};
use std::net::TcpStream;
use std::path::Path;
use std::process::Stdio;
use std::time::{Duration, Instant};

use crate::common::Sim;
use crate::common::controller::{
    Process, free_address, get, sourced, start_controller, wait_for, wait_until_listening,
};

/// Streams that one server accepts.
const STREAMS: usize = 16;
const MAX_MEMORY_KIB: u64 = 8 * 1024;
const FAILED: usize = 100;
/// Time without a read after which the controller has read all nodes.
const QUIET: Duration = Duration::from_secs(5);

/// Returns the number of nodes that joined: 200, or that of `MOORING_NODES`.
fn joined() -> usize {
    std::env::var("MOORING_NODES").map_or(200, |count| count.parse().unwrap())
}

/// Starts the simulator with nodes that joined and 100 that failed.
fn simulate_large(state: &Path) -> Sim {
    let mut text = String::from("description: A large cluster.\nvms:\n");
    for (letter, count, rest) in [
        ('g', joined(), "imageVersion: 202601.13.0\n    ageMinutes: 240"),
        ('b', FAILED, "imageVersion: 202601.27.0\n    ageMinutes: 6\n    bootstrap: orasMissing"),
    ] {
        let names: Vec<String> =
            (0..count).map(|number| format!("aks-default-{letter}{number:03}")).collect();
        let names = names.join(", ");
        let _ = writeln!(text, "  - names: [{names}]\n    mode: bootstrappingclient\n    {rest}");
    }
    let scenario = state.join("large.yaml");
    std::fs::write(&scenario, text).unwrap();
    Sim::start(&state.join("sim"), &["--scenario", scenario.to_str().unwrap(), "--kube-port", "0"])
}

/// Returns the requests that the simulated Azure received.
fn azure_requests(sim: &Sim) -> usize {
    let trace = sim.admin("GET /admin/trace", "");
    trace.lines().filter(|line| line.contains(" GET /") || line.contains(" POST /")).count()
}

/// Returns the resident memory of a process.
fn memory_kib(process: u32) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
    line.trim().strip_suffix(" kB").unwrap().parse().unwrap()
}

/// A stream of events that is not read further than its first event.
fn open_stream(address: &str) -> TcpStream {
    let mut stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
    write!(stream, "GET /api/v1/events HTTP/1.1\r\nHost: {address}\r\n\r\n").unwrap();
    let mut lines = BufReader::new(stream.try_clone().unwrap()).lines().map(Result::unwrap);
    assert_eq!(lines.next().unwrap(), "HTTP/1.1 200 OK");
    assert!(lines.any(|line| line.starts_with("event: ")));
    stream
}

#[test]
fn open_pages_read_nothing_from_azure_and_need_little_memory() {
    let state = tempfile::tempdir().unwrap();
    let sim = simulate_large(state.path());
    let address = free_address();
    let controller = start_controller(&sim, &address);
    wait_until_listening(&address);
    // One read per failed node. No page is open, so nothing is published yet.
    wait_for("reads of all failed nodes", || (azure_requests(&sim) > FAILED).then_some(()));
    let (mut requests, mut since) = (0, Instant::now());
    wait_for("the last read", || {
        let now = azure_requests(&sim);
        if now != requests {
            (requests, since) = (now, Instant::now());
        }
        (since.elapsed() > QUIET).then_some(())
    });
    let before = memory_kib(controller.0.id());

    let streams: Vec<TcpStream> = (0..STREAMS).map(|_| open_stream(&address)).collect();
    let refused = get(&address, "/api/v1/events");
    assert!(refused.starts_with("HTTP/1.1 503 "), "{refused}");
    let path = ["/", "/failures", "/pools/default", "/nodes/default-b001", "/?since=7d"];
    let api = ["status", "fleet", "failures", "nodes", "pools", "controller"];
    wait_for("all failures on the page", || {
        get(&address, "/api/v1/status").contains("\"failed\": 100").then_some(())
    });
    for _ in 0..5 {
        for path in path {
            let page = get(&address, path);
            assert!(page.starts_with("HTTP/1.1 200 "), "{path}: {page}");
        }
        for name in api {
            assert!(get(&address, &format!("/api/v1/{name}")).starts_with("HTTP/1.1 200 "));
        }
    }
    let after = memory_kib(controller.0.id());
    drop(streams);
    assert_eq!(azure_requests(&sim), requests, "a page caused a read of Azure");
    println!("memory: {before} KiB, with {STREAMS} streams {after} KiB");
    assert!(after.saturating_sub(before) <= MAX_MEMORY_KIB, "{before} KiB, then {after} KiB");
}

/// Returns the seconds until a controller with open pages has a verdict for every failed node.
fn seconds_until_all_verdicts(streams: usize) -> f64 {
    let state = tempfile::tempdir().unwrap();
    let sim = simulate_large(state.path());
    let (page, metrics) = (free_address(), free_address());
    let mut command = sourced(&sim);
    command.args(["controller", "--health-address", "127.0.0.1:0", "--page-address", &page]);
    command.args(["--metrics-address", &metrics]).stderr(Stdio::null());
    let start = Instant::now();
    let _controller = Process(command.spawn().unwrap());
    wait_until_listening(&page);
    let _streams: Vec<TcpStream> = (0..streams).map(|_| open_stream(&page)).collect();
    let count = format!("mooring_verdict_seconds_count{{kind=\"CSEFailed\"}} {FAILED}\n");
    wait_for("all verdicts", || get(&metrics, "/metrics").contains(&count).then_some(()));
    start.elapsed().as_secs_f64()
}

#[test]
fn every_verdict_is_reached_with_open_pages() {
    let [without, with] = [0, STREAMS].map(seconds_until_all_verdicts);
    println!("{FAILED} verdicts: {without:.2} s; with {STREAMS} streams {with:.2} s");
}
