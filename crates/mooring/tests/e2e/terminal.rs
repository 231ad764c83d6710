//! Screens, prompts and `--watch` of runs on a terminal and in a pipe, against the simulator.

use std::io::{BufRead as _, BufReader, Write as _};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use crate::common::{Lab, Terminal, golden, result, wait};
use serde_json::Value;

const TIMEOUT: Duration = Duration::from_mins(4);

/// Starts a run in the background.
fn apply(lab: &Lab) -> Child {
    let hash = lab.hash(&["repair", "plan"]);
    let words = ["repair", "apply", "--poll", "1", "--yes", "--plan-hash", &hash];
    lab.command(&words).spawn().unwrap()
}

fn signal(id: u32, which: &str) {
    assert!(Command::new("kill").args([which, &id.to_string()]).status().unwrap().success());
}

#[test]
fn repair_is_confirmed_on_a_terminal_only() {
    let lab = Lab::fast("wedged-system-pool");
    let cluster = lab.sim.variable("CLUSTER_NAME");
    let name = format!("{cluster}/system");
    // Ctrl-D is the end of input.
    for keys in ["system\n", "another/system\n", "\u{4}", "\n"] {
        let mut terminal = Terminal::start(&mut lab.command(&["repair", "apply"]), 80);
        terminal.wait_for(&format!("Type {name} to continue: "));
        for word in [
            "This rebuilds pool system (",
            " nodes, ",
            " pods) in",
            "westeurope",
            "subscription 00000000-",
            "https://127.0.0.1:",
            "(credentials from Azure)",
        ] {
            // Lines wrap between words.
            let shown: Vec<String> =
                terminal.shown().split_whitespace().map(str::to_owned).collect();
            assert!(shown.join(" ").contains(word.trim()), "{word}: {shown:?}");
        }
        terminal.type_keys(keys);
        let (code, shown) = terminal.end();
        assert_eq!(code, 4, "{keys:?} {shown}");
        assert!(shown.contains("nothing was changed"), "{shown}");
    }
    // A pipe cannot confirm, even with the correct name.
    let mut piped = lab.command(&["repair", "apply"]).stdin(Stdio::piped()).spawn().unwrap();
    let _ = piped.stdin.take().unwrap().write_all(format!("{name}\n").as_bytes());
    let (code, _, err) = result(&wait(piped, TIMEOUT));
    assert!(code == 4 && err.contains("only a terminal can confirm"), "{err}");
    assert_eq!(lab.writes(), Vec::<String>::new());
    assert_eq!(lab.json(&["repair", "status"]).1["runs"], Value::Array(Vec::new()));

    let mut terminal = Terminal::start(&mut lab.command(&["repair", "apply", "--poll", "1"]), 80);
    terminal.wait_for("to continue: ");
    terminal.type_keys(&format!("{name}\n"));
    terminal.wait_for("was rebuilt in ");
    let raw = terminal.raw();
    assert!(raw.contains("\r\u{1b}[K") && raw.contains(", usually 3:14"), "{raw}");
    let (code, shown) = terminal.end();
    assert_eq!(code, 0, "{shown}");
    for line in [" 1/16  snapshot ", "16/16  reconcile-cluster "] {
        assert!(shown.contains(line), "{line}: {shown}");
    }
}

/// Lines that may be wider: commands and evidence, which are never broken.
fn assert_fits(shown: &str, columns: usize) {
    for line in shown.lines() {
        let is_word = !line.trim().contains(' ');
        let fits = mooring_terminal::width(line) <= columns;
        assert!(fits || is_word || line.contains("mooring "), "{columns}: {line}\n{shown}");
    }
}

#[test]
fn watch_redraws_a_terminal_and_ends_with_q() {
    let lab = Lab::fast("wedged-system-pool");
    let mut status = lab.command(&["repair", "status", "-w"]);
    let mut watch = Terminal::start(&mut status, 80);
    watch.wait_for("No runs found");
    let run = apply(&lab);
    watch.wait_for("running");
    watch.wait_for("`abort` rolls it back");
    watch.wait_for("only `resume` continues");
    let (code, _, err) = result(&wait(run, TIMEOUT));
    assert_eq!(code, 0, "{err}");
    watch.wait_for("repaired");
    assert!(watch.raw().contains("A\r\u{1b}[J"), "{}", watch.raw());
    watch.type_keys("q");
    let (code, shown) = watch.end();
    assert_eq!(code, 0, "{shown}");
    assert!(shown.trim_end().lines().last().unwrap().contains("repaired"), "{shown}");
    let mut watch = Terminal::start(&mut lab.command(&["repair", "status", "-w"]), 80);
    watch.wait_for("repaired");
    signal(watch.id(), "-INT");
    assert_eq!(watch.end().0, 130);
}

#[test]
fn watch_in_a_pipe_survives_a_restart_of_the_api_server() {
    let lab = Lab::fast("wedged-system-pool");
    let spawn = |words: &[&str]| {
        let mut child = lab.command(words).spawn().unwrap();
        let out = BufReader::new(child.stdout.take().unwrap()).lines().map(Result::unwrap);
        (child, out)
    };
    let run = apply(&lab);
    let (mut rows, mut lines) = spawn(&["repair", "status", "-w"]);
    let (mut json, mut documents) = spawn(&["repair", "status", "-w", "-o", "json"]);
    let (code, _, err) = result(&wait(run, TIMEOUT));
    assert_eq!(code, 0, "{err}");
    let mut seen = Vec::new();
    for line in documents.by_ref() {
        let document: Value = serde_json::from_str(&line).unwrap();
        assert_eq!(document["schema"], "mooring.repair.run/v1");
        seen.push(document["runs"][0]["state"].as_str().unwrap_or("none").to_owned());
        if seen.last().unwrap() == "repaired" {
            break;
        }
    }
    assert!(seen.iter().any(|state| state == "running"), "{seen:?}");
    let table: Vec<String> = lines.by_ref().take_while(|line| !line.contains("repaired")).collect();
    assert!(table.iter().any(|line| line.contains("running")), "{table:?}");
    assert!(table.iter().all(|line| !line.contains('\u{1b}')), "{table:?}");

    // The API server is away, and comes back.
    let proxy = Proxy::start(&lab);
    let config = proxy.config.path().to_str().unwrap();
    let (mut away, mut lines) = spawn(&["repair", "status", "-w", "--kubeconfig", config]);
    assert!(lines.any(|line| line.contains("repaired")));
    proxy.set_up(false);
    let mut errors = BufReader::new(away.stderr.take().unwrap()).lines().map(Result::unwrap);
    let failed = errors.by_ref().find(|line| line.contains("cannot be read since"));
    assert!(failed.is_some_and(|line| line.contains("retrying")));
    proxy.set_up(true);
    assert!(errors.any(|line| line.contains("can be read again, after ")));
    away.kill().unwrap();
    away.wait().unwrap();
    for child in [&mut rows, &mut json] {
        child.kill().unwrap();
        child.wait().unwrap();
    }
}

/// Returns the frames of a watched screen without colors, each with the lines that were erased before it.
fn frames(raw: &str) -> Vec<(usize, String)> {
    let erased = |before: &str| before.rsplit('[').next().unwrap().parse().unwrap();
    let mut parts = raw.split("A\r\u{1b}[J");
    let mut last = parts.next().unwrap();
    let mut frames = Vec::new();
    for part in parts {
        frames.push((erased(last), golden::plain(part).replace("\r\n", "\n")));
        last = part;
    }
    frames
}

#[test]
fn status_watch_survives_an_api_server_restart_and_a_resize() {
    let lab = Lab::fast("oras-missing");
    let proxy = Proxy::start(&lab);
    let config = proxy.config.path().to_str().unwrap();
    let mut command = lab.command(&["status", "-w", "--kubeconfig", config, "--azure", "never"]);
    let mut watch = Terminal::start(&mut command, 120);
    watch.wait_for("USUAL JOIN");
    proxy.set_up(false);
    watch.wait_for("warning: the cluster cannot be read since ");
    let shown = watch.shown();
    let words: Vec<&str> = shown.split_whitespace().collect();
    assert!(words.join(" ").contains("; retrying"), "{shown}");
    proxy.set_up(true);
    watch.wait_for("the cluster can be read again, after ");

    // A narrower terminal wraps the last screen, and all of its lines are erased.
    let is_narrow =
        |frame: &(usize, String)| frame.1.contains("POOL ") && !frame.1.contains("USUAL JOIN");
    let start = Instant::now();
    let is_whole =
        |frame: &(usize, String)| frame.1.contains("USUAL JOIN") && !frame.1.contains("warning: ");
    while !frames(&watch.raw()).last().is_some_and(is_whole) {
        assert!(start.elapsed() < TIMEOUT, "{}", watch.shown());
        std::thread::sleep(Duration::from_millis(20));
    }
    watch.resize(80);
    while !frames(&watch.raw()).last().is_some_and(is_narrow) {
        assert!(start.elapsed() < TIMEOUT, "{}", watch.shown());
        std::thread::sleep(Duration::from_millis(20));
    }
    watch.type_keys("q");
    let raw = watch.raw();
    let frames = frames(&raw);
    // No screen is made of what was read before the connection was lost.
    assert!(frames.iter().all(|(_, frame)| frame.contains("Kubernetes 1.")), "{raw}");
    let first = frames.iter().position(is_narrow).unwrap();
    let rows = |line: &str| mooring_terminal::width(line).div_ceil(80).max(1);
    let wide = frames[first - 1].1.lines().map(rows).sum::<usize>();
    assert_eq!(frames[first].0, wide, "{raw}");
    assert!(wide > frames[first - 1].1.lines().count(), "the wide screen was wrapped: {raw}");
    assert_fits(&frames[first].1, 80);
}

/// Connections to the API server that can be cut, and a kubeconfig that uses them.
struct Proxy {
    is_up: Arc<AtomicBool>,
    open: Arc<Mutex<Vec<TcpStream>>>,
    config: tempfile::NamedTempFile,
}

impl Proxy {
    fn start(lab: &Lab) -> Self {
        let file = lab.sim.variable("KUBECONFIG");
        let mut config: Value = serde_json::from_slice(&std::fs::read(file).unwrap()).unwrap();
        let server = &mut config["clusters"][0]["cluster"]["server"];
        let upstream = server.as_str().unwrap().trim_end_matches('/').rsplit(':').next().unwrap();
        let upstream: u16 = upstream.parse().unwrap();
        let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
        let port = listener.local_addr().unwrap().port();
        *server = format!("https://127.0.0.1:{port}").into();
        let mut written = tempfile::NamedTempFile::new().unwrap();
        written.write_all(config.to_string().as_bytes()).unwrap();
        let (is_up, open) = (Arc::new(AtomicBool::new(true)), Arc::new(Mutex::new(Vec::new())));
        let (accepts, opened) = (Arc::clone(&is_up), Arc::clone(&open));
        std::thread::spawn(move || {
            for near in listener.incoming().map(Result::unwrap) {
                if !accepts.load(Ordering::SeqCst) {
                    continue;
                }
                let far = TcpStream::connect(("127.0.0.1", upstream)).unwrap();
                let copies = [near.try_clone().unwrap(), far.try_clone().unwrap()];
                opened.lock().unwrap().extend(copies);
                let backward = (far.try_clone().unwrap(), near.try_clone().unwrap());
                for (mut from, mut to) in [(near, far), backward] {
                    std::thread::spawn(move || std::io::copy(&mut from, &mut to));
                }
            }
        });
        Self { is_up, open, config: written }
    }

    fn set_up(&self, is_up: bool) {
        self.is_up.store(is_up, Ordering::SeqCst);
        for stream in self.open.lock().unwrap().drain(..) {
            let _ = stream.shutdown(Shutdown::Both);
        }
    }
}
