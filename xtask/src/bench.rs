//! `bench`: figures of the node agent, the controller and the simulated Kubernetes API.
//!
//! Of the agent, the resource usage of the shipped binary. Hosts are shared and noisy, so the relevant figures are instructions, bytes and ratios. Those of the upstream Go
//! agent were measured once, on such a host.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use crate::release::targets::build_agent_here;
use crate::step::{Failed, need, print, run};

const WAKE_UPS: usize = 40;

const SENTINEL: &str = "opt/azure/containers/provision.complete";

/// A node in a directory, with the shipped agent.
struct Node {
    agent: PathBuf,
    root: PathBuf,
}

/// Measures the resource usage of the controller, in virtual time.
pub(crate) fn controller() -> Result<(), Failed> {
    run("cargo", &["bench", "--locked", "-p", "mooring-controller", "--bench", "controller"])
}

/// Measures the throughput of the simulated Kubernetes API; it prints its figures itself.
pub(crate) fn kubernetes() -> Result<(), Failed> {
    let example = ["--package", "mooring-simulator", "--example", "kubernetes_scale"];
    run("cargo", &[&["run", "--locked", "--release", "--quiet"][..], &example].concat())
}

pub(crate) fn agent() -> Result<(), Failed> {
    need("valgrind", "valgrind")?;
    let node = Node {
        agent: build_agent_here(None)?,
        root: std::env::temp_dir().join(format!("mooring-bench-{}", std::process::id())),
    };
    node.set_up()?;
    let measured = measure(&node);
    fs::remove_dir_all(&node.root)?;
    measured
}

fn measure(node: &Node) -> Result<(), Failed> {
    let megabytes =
        |bytes: u64| format!("{}.{:02} MB", bytes / 1_000_000, bytes % 1_000_000 / 10_000);
    row("what", "this agent", "Go program");
    row("size, stripped", &megabytes(fs::metadata(&node.agent)?.len()), "13.65 MB");
    let version = node.instructions(&["version"])?;
    row("`version`", &format!("{version} instructions"), "5.0 ms CPU");
    row("`version`", &format!("{:.2} ms CPU", node.cpu_milliseconds(&["version"])?), "5.0 ms CPU");
    for (name, kib) in [("small.json", 0), ("large.json", 64)] {
        let config = node.write_config(name, kib)?;
        let words = ["provision", "--dry-run", "--provision-config", &config];
        let instructions = node.instructions(&words)?;
        let cpu = node.cpu_milliseconds(&words)?;
        let reference = if kib == 0 { "6.0 ms CPU" } else { "" };
        let what = format!("dry run, {} KiB config", fs::metadata(&config)?.len() / 1024);
        row(&what, &format!("{instructions} instructions"), reference);
        row(&what, &format!("{cpu:.2} ms CPU"), reference);
    }
    for (what, words) in [
        ("preflight, all is well", &["preflight"][..]),
        ("provision without oras", &["provision", "--provision-config", &node.isolated()?]),
    ] {
        let instructions = node.instructions(words)?;
        row(what, &format!("{instructions} instructions"), "");
        row(what, &format!("{:.2} ms CPU", node.cpu_milliseconds(words)?), "");
    }
    let (kib, threads) = node.idle_wait()?;
    row("waiting: memory", &format!("{kib} KiB"), "11.6 MiB");
    row("waiting: threads", &threads, "4");
    let (median, p95) = node.wake_ups()?;
    row("sentinel to exit, p50", &format!("{median:.1} ms"), "16.3 ms");
    row("sentinel to exit, p95", &format!("{p95:.1} ms"), "40.8 ms");
    Ok(())
}

fn row(what: &str, ours: &str, theirs: &str) {
    print(&format!("{what:<28}{ours:>26}{theirs:>16}\n"));
}

impl Node {
    fn set_up(&self) -> Result<(), Failed> {
        for folder in ["opt/azure/containers", "var/log/azure/aks"] {
            fs::create_dir_all(self.root.join(folder))?;
        }
        self.write("opt/azure/containers/provision_start.sh", "")?;
        self.write("opt/azure/components.json", "{}")
    }

    #[expect(clippy::disallowed_methods, reason = "nobody reads this file while it is written")]
    fn write(&self, path: &str, content: &str) -> Result<(), Failed> {
        Ok(fs::write(self.root.join(path), content)?)
    }

    fn write_config(&self, name: &str, kib: usize) -> Result<String, Failed> {
        let mut flags = String::from("\"--v\": \"2\"");
        for number in 0.. {
            if flags.len() >= kib * 1024 {
                break;
            }
            // Writing to a `String` cannot fail.
            let _ = write!(flags, ", \"--flag-{number}\": \"value-{number}\"");
        }
        let config = format!(
            r#"{{"version": "v1", "kubernetes_version": "1.34.1", "vm_size": "Standard_D4s_v5",
            "cluster_config": {{"location": "westeurope", "resource_group": "group"}},
            "bootstrapping_config": {{"tls_bootstrapping_token": "abcdef.0123456789abcdef"}},
            "kubelet_config": {{"kubelet_flags": {{{flags}}}}}}}"#
        );
        self.write(name, &config)?;
        Ok(self.root.join(name).display().to_string())
    }

    /// A config that needs oras, which is missing.
    fn isolated(&self) -> Result<String, Failed> {
        let config = r#"{"version": "v1", "bootstrap_profile_container_registry_server": "r"}"#;
        self.write("isolated.json", config)?;
        Ok(self.root.join("isolated.json").display().to_string())
    }

    fn command(&self, program: &Path) -> Command {
        let mut command = Command::new(program);
        command.env_clear().env("PATH", "/usr/bin:/bin").env("AKS_NODE_ROOT", &self.root);
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        command
    }

    /// Counts instructions: the same for the same binary and input, regardless of the load.
    fn instructions(&self, words: &[&str]) -> Result<String, Failed> {
        self.forget_result();
        let output = self
            .command(Path::new("valgrind"))
            .args(["--tool=callgrind", "--callgrind-out-file=/dev/null"])
            .arg(&self.agent)
            .args(words)
            .stderr(Stdio::piped())
            .output()?;
        let report = String::from_utf8_lossy(&output.stderr).into_owned();
        // A child that could not be started has printed its count before.
        let count = report.lines().filter_map(|line| line.split_once("Collected : ")).next_back();
        match count {
            Some((_, count)) => Ok(grouped(count.trim())),
            None => Err(Failed(format!("valgrind report no count:\n{report}"))),
        }
    }

    /// Removes the result of a failed run, which would prevent the next one.
    fn forget_result(&self) {
        let _ = fs::remove_file(self.root.join(SENTINEL));
    }

    /// User and system time of one run, averaged over many.
    fn cpu_milliseconds(&self, words: &[&str]) -> Result<f64, Failed> {
        const RUNS: u32 = 100;
        let before = children_ticks()?;
        for _ in 0..RUNS {
            self.forget_result();
            self.command(&self.agent).args(words).status()?;
        }
        // The kernel counts in hundredths of a second.
        Ok((children_ticks()? - before) * 10.0 / f64::from(RUNS))
    }

    fn start_wait(&self) -> Result<Child, Failed> {
        // Results of failed runs would end a wait at once.
        let _ = fs::remove_dir_all(self.root.join("run"));
        let _ = fs::remove_file(self.root.join(SENTINEL));
        let wait = self.command(&self.agent).arg("provision-wait").spawn()?;
        // Asleep in poll, not still starting.
        while !status(&wait).contains("State:\tS") {
            std::thread::yield_now();
        }
        #[expect(clippy::disallowed_methods, reason = "a benchmark sees the real clock")]
        std::thread::sleep(Duration::from_millis(20));
        Ok(wait)
    }

    fn idle_wait(&self) -> Result<(String, String), Failed> {
        let mut wait = self.start_wait()?;
        let status = status(&wait);
        wait.kill()?;
        wait.wait()?;
        let field = |name: &str| {
            let line = status.lines().find(|line| line.starts_with(name)).unwrap_or_default();
            line.split_ascii_whitespace().nth(1).unwrap_or("?").to_owned()
        };
        Ok((field("VmHWM:"), field("Threads:")))
    }

    /// Milliseconds from the creation of the sentinel to the end of the wait.
    fn wake_ups(&self) -> Result<(f64, f64), Failed> {
        self.write("var/log/azure/aks/provision.json", r#"{"ExitCode":"0"}"#)?;
        let mut times = Vec::new();
        for _ in 0..WAKE_UPS {
            let mut wait = self.start_wait()?;
            let start = now();
            self.write(SENTINEL, "")?;
            wait.wait()?;
            times.push(start.elapsed().as_secs_f64() * 1000.0);
        }
        times.sort_by(f64::total_cmp);
        Ok((times[WAKE_UPS / 2], times[WAKE_UPS * 95 / 100]))
    }
}

#[expect(clippy::disallowed_methods, reason = "a benchmark sees the real clock")]
fn now() -> Instant {
    Instant::now()
}

fn status(child: &Child) -> String {
    fs::read_to_string(format!("/proc/{}/status", child.id())).unwrap_or_default()
}

/// CPU time of all children that have ended, in ticks: fields 16 and 17 of `/proc/self/stat`.
fn children_ticks() -> Result<f64, Failed> {
    let stat = fs::read_to_string("/proc/self/stat")?;
    let behind_name = stat.rsplit_once(')').map_or("", |(_, behind)| behind);
    let fields: Vec<f64> =
        behind_name.split_ascii_whitespace().skip(13).take(2).flat_map(str::parse).collect();
    Ok(fields.iter().sum())
}

/// `1234567` as `1,234,567`.
fn grouped(digits: &str) -> String {
    let mut grouped = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    grouped
}
