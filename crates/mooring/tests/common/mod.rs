//! Helpers of the tests with the built binary.
#![allow(
    dead_code,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::disallowed_methods,
    reason = "tests fail by panicking, and not every one uses every helper"
)]

pub(crate) mod controller;
pub(crate) mod golden;
pub(crate) mod schema;

use std::fs::File;
use std::io::{Read, Write as _};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

pub(crate) use mooring_testbed::command::{result, text, wait};
pub(crate) use mooring_testbed::simulation::Sim;
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{Winsize, tcsetwinsize};
use serde_json::Value;

/// A command that neither reads the user's configuration nor writes to the user's cache.
pub(crate) fn mooring() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_mooring"));
    for name in ["XDG_CACHE_HOME", "XDG_CONFIG_HOME"] {
        command.env(name, env!("CARGO_TARGET_TMPDIR"));
    }
    command
}

/// A command that knows no cluster, with this home and pipes.
pub(crate) fn alone(home: &Path, words: &[&str]) -> Command {
    let mut command = mooring();
    command.env_clear().env("HOME", home).env("LC_ALL", "C.UTF-8").args(words);
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

/// A simulator, and commands that know no other cluster; it ends with the test.
pub(crate) struct Lab {
    pub(crate) sim: Sim,
    /// The home of the commands, with the simulator's files in `sim`.
    pub(crate) home: tempfile::TempDir,
}

/// No command takes longer, on any machine.
const TIMEOUT: Duration = Duration::from_mins(4);

impl Lab {
    /// Starts a scenario, or that of a file, with flags of `mooring-lab sim`.
    pub(crate) fn start(scenario: &str, flags: &[&str]) -> Self {
        let home = tempfile::tempdir().unwrap();
        let flags = [&["--kube-port", "0", "--scenario", scenario], flags].concat();
        let sim = Sim::start(&home.path().join("sim"), &flags);
        Self { sim, home }
    }

    /// Starts a scenario in which a repair takes seconds.
    pub(crate) fn fast(scenario: &str) -> Self {
        Self::start(scenario, &["--speed", "600"])
    }

    pub(crate) fn command(&self, words: &[&str]) -> Command {
        let mut command = alone(self.home.path(), words);
        command.envs(self.sim.environment());
        command
    }

    /// Returns the exit code, stdout and stderr.
    pub(crate) fn run(&self, words: &[&str]) -> (i32, String, String) {
        end(&mut self.command(words))
    }

    /// Returns the same with variables.
    pub(crate) fn run_with(
        &self,
        variables: &[(&str, &str)],
        words: &[&str],
    ) -> (i32, String, String) {
        end(self.command(words).envs(variables.iter().copied()))
    }

    pub(crate) fn json(&self, words: &[&str]) -> (i32, Value) {
        let (code, out, err) = self.run(&[words, &["-o", "json"]].concat());
        (code, serde_json::from_str(&out).unwrap_or_else(|_| panic!("{words:?}: {out}{err}")))
    }

    /// Returns a path in the home.
    pub(crate) fn path(&self, name: &str) -> String {
        self.home.path().join(name).to_str().unwrap().to_owned()
    }

    /// Returns the kubeconfig of the simulator.
    pub(crate) fn kubeconfig(&self) -> Value {
        serde_json::from_slice(&std::fs::read(self.sim.variable("KUBECONFIG")).unwrap()).unwrap()
    }

    /// Writes a kubeconfig, and returns its path.
    pub(crate) fn write_kubeconfig(&self, config: &Value) -> String {
        let path = self.path("kubeconfig");
        std::fs::write(&path, config.to_string()).unwrap();
        path
    }

    /// Returns the hash of a plan.
    pub(crate) fn hash(&self, plan: &[&str]) -> String {
        self.json(plan).1["hash"].as_str().unwrap().to_owned()
    }

    /// Returns the requests to Azure that may change something, with the responses.
    pub(crate) fn writes(&self) -> Vec<String> {
        let trace = self.sim.admin("GET /admin/trace", "");
        assert!(!trace.contains("not kept"), "{trace}");
        let is_write = |line: &&str| {
            ["PUT ", "PATCH ", "DELETE "].iter().any(|method| line.contains(method))
                || (line.contains("POST ") && line.contains("/abort"))
        };
        trace.lines().filter(is_write).map(str::to_owned).collect()
    }
}

/// Runs a command; returns its exit code (-1 for a signal), stdout and stderr.
pub(crate) fn end(command: &mut Command) -> (i32, String, String) {
    result(&wait(command.spawn().unwrap(), TIMEOUT))
}

/// Removes the lines that say what is waited for: where the machine is slow, they are printed.
pub(crate) fn without_progress(err: &str) -> String {
    err.split_inclusive('\n').filter(|line| !line.starts_with("waiting for ")).collect()
}

/// A command on a separate terminal, killed at the end of the test.
pub(crate) struct Terminal {
    child: Child,
    master: File,
    shown: Arc<Mutex<Vec<u8>>>,
    reader: Option<std::thread::JoinHandle<()>>,
}

impl Drop for Terminal {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Terminal {
    /// Starts a command with a terminal of this width as stdin, stdout and stderr.
    pub(crate) fn start(command: &mut Command, columns: u16) -> Self {
        let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
        grantpt(&master).unwrap();
        unlockpt(&master).unwrap();
        let size = Winsize { ws_row: 50, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0 };
        tcsetwinsize(&master, size).unwrap();
        let name = ptsname(&master, Vec::new()).unwrap();
        let path = Path::new(name.to_str().unwrap());
        let slave = || File::options().read(true).write(true).open(path).unwrap();
        command.stdin(slave()).stdout(slave()).stderr(slave());
        for (name, value) in [("TERM", "xterm"), ("LC_ALL", "C.UTF-8")] {
            if !command.get_envs().any(|(set, _)| set == name) {
                command.env(name, value);
            }
        }
        command.env_remove("COLUMNS");
        let child = command.spawn().unwrap();
        // The terminal ends when the last copy is closed, which is that of the command.
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        let master = File::from(master);
        let shown = Arc::new(Mutex::new(Vec::new()));
        let (mut from, to) = (master.try_clone().unwrap(), Arc::clone(&shown));
        let reader = std::thread::spawn(move || {
            let mut bytes = [0; 4096];
            while let Ok(count @ 1..) = from.read(&mut bytes) {
                to.lock().unwrap().extend_from_slice(&bytes[..count]);
            }
        });
        Self { child, master, shown, reader: Some(reader) }
    }

    /// Returns everything that was written so far, without colors, with `\n` as line ends.
    pub(crate) fn shown(&self) -> String {
        golden::plain(&self.raw().replace("\r\n", "\n"))
    }

    pub(crate) fn raw(&self) -> String {
        text(&self.shown.lock().unwrap())
    }

    /// Waits until the terminal shows this text.
    pub(crate) fn wait_for(&mut self, wanted: &str) {
        let start = Instant::now();
        while !self.shown().contains(wanted) {
            let ended = self.child.try_wait().unwrap();
            assert!(ended.is_none() || self.shown().contains(wanted), "{}", self.shown());
            assert!(start.elapsed() < Duration::from_mins(4), "{wanted}: {}", self.shown());
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    pub(crate) fn resize(&self, columns: u16) {
        let size = Winsize { ws_row: 50, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0 };
        tcsetwinsize(&self.master, size).unwrap();
    }

    pub(crate) fn type_keys(&mut self, keys: &str) {
        self.master.write_all(keys.as_bytes()).unwrap();
    }

    pub(crate) fn id(&self) -> u32 {
        self.child.id()
    }

    /// Waits for the command; returns its exit code and everything that it showed.
    pub(crate) fn end(mut self) -> (i32, String) {
        (self.finish(), self.shown())
    }

    /// Waits for the command; returns its exit code and everything that it wrote, with colors.
    pub(crate) fn end_both(mut self) -> (i32, String) {
        (self.finish(), self.raw())
    }

    fn finish(&mut self) -> i32 {
        let start = Instant::now();
        let status = loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                break status;
            }
            assert!(start.elapsed() < Duration::from_mins(4), "{}", self.shown());
            std::thread::sleep(Duration::from_millis(20));
        };
        let _ = self.reader.take().unwrap().join();
        status.code().unwrap_or(-1)
    }
}
