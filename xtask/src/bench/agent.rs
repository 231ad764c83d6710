//! `bench agent`: the shipped node agent on a node of real size, alone or beside another agent.
//!
//! Hosts are shared and noisy, so the relevant figures are instructions, bytes and ratios of interleaved runs.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use nix::sys::resource::{UsageWho, getrusage};
use nix::sys::time::TimeValLike as _;

use super::node::{self, AGENT, COVERED, ISOLATED, LARGE, REPORT, RIVAL, SENTINEL, SMALL};
use crate::release::targets::build_agent_here;
use crate::step::{Failed, command, need, print, write};

/// Rounds in which each agent runs once.
const ROUNDS: usize = 300;
const MEMORY_RUNS: usize = 100;
const WAKE_UPS: usize = 40;
/// An agent that waits is asleep after this time.
const FALLS_ASLEEP: Duration = Duration::from_millis(100);

/// Builds the agent, sets up the node and measures in a mount namespace of its own, where the node's directories cover
/// those of this machine: other agents know only the fixed paths.
pub(crate) fn agent(words: &[&str]) -> Result<(), Failed> {
    let rival = match words {
        [] => None,
        ["--against", rival] => Some(PathBuf::from(rival)),
        _ => return Err(Failed("usage: cargo xtask bench agent [--against BINARY]".into())),
    };
    need("valgrind", "valgrind")?;
    let agent = build_agent_here(None)?;
    let folder = std::env::temp_dir().join(format!("mooring-bench-{}", std::process::id()));
    let measured = node::set_up(&folder, &agent, rival.as_deref()).and_then(|()| inside(&folder));
    fs::remove_dir_all(&folder)?;
    measured
}

fn inside(node: &Path) -> Result<(), Failed> {
    let covers: String =
        COVERED.map(|folder| format!("mount --bind \"$0/{folder}\" /{folder} && ")).concat();
    let mut unshare = command("unshare");
    unshare.args(["--map-root-user", "--mount", "sh", "-c"]);
    unshare.arg(format!("{covers}exec \"$1\" bench agent-on-node")).arg(node);
    let status = unshare.arg(std::env::current_exe()?).status()?;
    if status.success() {
        Ok(())
    } else {
        Err(Failed(format!("the measurement ended with {status}")))
    }
}

/// The agents to compare: ours, then the other, if there is one.
struct Agents(Vec<&'static str>);

/// Measures, as the node's own process.
pub(crate) fn agent_on_node() -> Result<(), Failed> {
    let mut agents = Agents(vec![AGENT]);
    if Path::new(RIVAL).exists() {
        agents.0.push(RIVAL);
    }
    row("what", &["this agent".into(), "other agent".into(), "ratio".into()]);
    let sizes = agents
        .each(|agent| Ok(u32::try_from(fs::metadata(agent)?.len()).map_or(f64::NAN, f64::from)))?;
    compare("size, bytes", &sizes, 0);
    let dry_run = |config: &node::Config| {
        ["provision", "--dry-run", "--provision-config", &config.path()].map(str::to_owned).to_vec()
    };
    for (what, words) in [
        ("version", vec!["version".to_owned()]),
        ("dry run, 1.4 KB", dry_run(&SMALL)),
        ("dry run, 64 KB", dry_run(&LARGE)),
        ("dry run, 64 KB, registry", dry_run(&ISOLATED)),
    ] {
        row(&format!("{what}: instructions"), &[instructions(&words)?]);
        agents.compare_runs(what, &words)?;
    }
    let words = ["preflight".to_owned()];
    row("preflight: instructions", &[instructions(&words)?]);
    Agents(vec![AGENT]).compare_runs("preflight", &words)?;
    agents.compare_waiting()?;
    fs::remove_file("/usr/local/bin/oras")?;
    let words = ["provision", "--provision-config", &ISOLATED.path()].map(str::to_owned);
    row("without oras, until 232: instructions", &[instructions(&words)?]);
    Agents(vec![AGENT]).compare_runs("without oras, until 232", &words)
}

impl Agents {
    fn each(
        &self,
        measure: impl FnMut(&&'static str) -> Result<f64, Failed>,
    ) -> Result<Vec<f64>, Failed> {
        self.0.iter().map(measure).collect()
    }

    /// Processor time with that of children, wall time and memory.
    fn compare_runs(&self, what: &str, words: &[String]) -> Result<(), Failed> {
        let mut cpu = vec![Vec::new(); self.0.len()];
        let mut wall = cpu.clone();
        for _ in 0..ROUNDS {
            for (index, agent) in self.0.iter().enumerate() {
                forget_result();
                let (before, start) = (children_milliseconds()?, now());
                on_node(agent, words).status()?;
                wall[index].push(start.elapsed().as_secs_f64() * 1000.0);
                cpu[index].push(children_milliseconds()? - before);
            }
        }
        compare(&format!("{what}: processor, ms"), &medians(&mut cpu), 3);
        compare(&format!("{what}: wall, ms"), &medians(&mut wall), 3);
        let memory = self.each(|agent| {
            forget_result();
            let runs = (0..MEMORY_RUNS).map(|_| peak_kib(on_node(agent, words)));
            Ok(runs.collect::<Result<Vec<_>, _>>()?.into_iter().fold(0.0, f64::max))
        })?;
        compare(&format!("{what}: memory, KiB"), &memory, 0);
        Ok(())
    }

    fn compare_waiting(&self) -> Result<(), Failed> {
        let words = ["provision-wait".to_owned()];
        for (what, field) in [("memory, KiB", "VmHWM:"), ("threads", "Threads:")] {
            let values = self.each(|agent| {
                let mut wait = start_wait(agent, &words)?;
                let value = status_field(&wait, field);
                wait.kill()?;
                wait.wait()?;
                Ok(value)
            })?;
            compare(&format!("waiting: {what}"), &values, 0);
        }
        write(Path::new(REPORT), r#"{"ExitCode":"0"}"#)?;
        let mut times = vec![Vec::new(); self.0.len()];
        for _ in 0..WAKE_UPS {
            for (index, agent) in self.0.iter().enumerate() {
                let mut wait = start_wait(agent, &words)?;
                let start = now();
                write(Path::new(SENTINEL), "")?;
                wait.wait()?;
                times[index].push(start.elapsed().as_secs_f64() * 1000.0);
            }
        }
        compare("sentinel to exit: p50, ms", &medians(&mut times), 1);
        let last: Vec<f64> = times.iter().map(|times| times[WAKE_UPS * 95 / 100]).collect();
        compare("sentinel to exit: p95, ms", &last, 1);
        forget_result();
        Ok(())
    }
}

fn row(what: &str, columns: &[String]) {
    let columns: Vec<String> = columns.iter().map(|column| format!("{column:>16}")).collect();
    print(&format!("{what:<40}{}\n", columns.concat()));
}

fn compare(what: &str, values: &[f64], decimals: usize) {
    let mut columns: Vec<String> =
        values.iter().map(|value| format!("{value:.decimals$}")).collect();
    if let [ours, theirs] = values {
        columns.push(format!("{:.2}", ours / theirs));
    }
    row(what, &columns);
}

fn medians(runs: &mut [Vec<f64>]) -> Vec<f64> {
    let median = |runs: &mut Vec<f64>| {
        runs.sort_by(f64::total_cmp);
        runs[runs.len() / 2]
    };
    runs.iter_mut().map(median).collect()
}

/// A program with the environment of a node's service.
fn on_node(program: &str, words: &[String]) -> Command {
    let mut command = Command::new(program);
    command.args(words).env_clear().env("PATH", node::PATH);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command
}

/// Counts our instructions: the same for the same binary and input, regardless of the load.
fn instructions(words: &[String]) -> Result<String, Failed> {
    forget_result();
    let mut valgrind = on_node("/usr/bin/valgrind", &[]);
    valgrind.args(["--tool=callgrind", "--callgrind-out-file=/dev/null", AGENT]).args(words);
    let output = valgrind.stderr(Stdio::piped()).output()?;
    let report = String::from_utf8_lossy(&output.stderr).into_owned();
    // A child that could not be started has printed its count before.
    let count = report.lines().filter_map(|line| line.split_once("Collected : ")).next_back();
    match count {
        Some((_, count)) => Ok(grouped(count.trim())),
        None => Err(Failed(format!("valgrind reports no count:\n{report}"))),
    }
}

/// Removes the results of a run, which would prevent or end the next one.
fn forget_result() {
    let _ = fs::remove_file(SENTINEL);
    let _ = fs::remove_dir_all("/run/aks-node-controller");
}

/// User and system time of all children that have ended.
fn children_milliseconds() -> Result<f64, Failed> {
    let usage = getrusage(UsageWho::RUSAGE_CHILDREN).map_err(|error| Failed(error.to_string()))?;
    let time = usage.user_time() + usage.system_time();
    let microseconds = u64::try_from(time.num_microseconds()).unwrap_or_default();
    Ok(Duration::from_micros(microseconds).as_secs_f64() * 1000.0)
}

/// The peak as it is read until the process ends; the usage that the kernel reports later includes that of this process.
fn peak_kib(mut command: Command) -> Result<f64, Failed> {
    let mut child = command.spawn()?;
    let mut peak: f64 = 0.0;
    let program = command.get_program().to_owned();
    while child.try_wait()?.is_none() {
        // Not this process's, before the child has become its program.
        if fs::read_link(format!("/proc/{}/exe", child.id())).is_ok_and(|exe| exe == program) {
            peak = peak.max(status_field(&child, "VmHWM:"));
        }
    }
    Ok(peak)
}

#[expect(clippy::disallowed_methods, reason = "a benchmark sees the real clock")]
fn start_wait(agent: &str, words: &[String]) -> Result<Child, Failed> {
    forget_result();
    let wait = on_node(agent, words).spawn()?;
    std::thread::sleep(FALLS_ASLEEP);
    Ok(wait)
}

/// A number in `/proc/PID/status`.
fn status_field(child: &Child, name: &str) -> f64 {
    let status = fs::read_to_string(format!("/proc/{}/status", child.id())).unwrap_or_default();
    let line = status.lines().find(|line| line.starts_with(name)).unwrap_or_default();
    line.split_ascii_whitespace().nth(1).and_then(|value| value.parse().ok()).unwrap_or_default()
}

#[expect(clippy::disallowed_methods, reason = "a benchmark sees the real clock")]
fn now() -> Instant {
    Instant::now()
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
