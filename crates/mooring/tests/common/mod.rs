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
pub(crate) mod pty;
pub(crate) mod schema;

use std::fs::File;
use std::io::{BufRead as _, BufReader, Read, Write as _};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{Winsize, tcsetwinsize};
use rustls::pki_types::pem::PemObject as _;

const RESPONSE_TIMEOUT: Duration = Duration::from_secs(30);

/// A command that neither reads the user's configuration nor writes to the user's cache.
pub(crate) fn mooring() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_mooring"));
    for name in ["XDG_CACHE_HOME", "XDG_CONFIG_HOME"] {
        command.env(name, env!("CARGO_TARGET_TMPDIR"));
    }
    command
}

/// Running `mooring sim`, killed at the end of the test.
pub(crate) struct Sim {
    pub(crate) child: Child,
    pub(crate) port: u16,
    state: PathBuf,
}

impl Drop for Sim {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Sim {
    /// Starts it with its files in `state`, and waits until it is ready.
    pub(crate) fn start(state: &Path, args: &[&str]) -> Self {
        let mut child = mooring()
            .args(["sim", "--state"])
            .arg(state)
            .args(args)
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let port = line.trim_end().strip_prefix("ready https://127.0.0.1:");
        let port = port.expect("`ready URL`").parse().unwrap();
        Self { child, port, state: state.to_owned() }
    }

    /// Returns the value of a variable in env.sh.
    pub(crate) fn variable(&self, name: &str) -> String {
        self.environment().into_iter().find(|(key, _)| key == name).unwrap().1
    }

    /// Returns the variables that env.sh exports.
    pub(crate) fn environment(&self) -> Vec<(String, String)> {
        let text = std::fs::read_to_string(self.state.join("env.sh")).unwrap();
        let pair = |line: &str| {
            let (name, value) = line.strip_prefix("export ")?.split_once('=').unwrap();
            Some((name.to_owned(), value.trim_matches('\'').to_owned()))
        };
        text.lines().filter_map(pair).collect()
    }

    /// Sends a request to the admin API and returns the whole response.
    pub(crate) fn admin(&self, head: &str, body: &str) -> String {
        let token = self.variable("MOORING_SIM_TOKEN");
        let headers = format!("Host: 127.0.0.1:{}\r\nAuthorization: Bearer {token}", self.port);
        send_with(self, &self.state, head, &headers, body)
    }
}

/// Sends a request over TLS, trusting only the simulator's CA, and returns the response. `headers` include the host.
pub(crate) fn send_with(sim: &Sim, state: &Path, head: &str, headers: &str, body: &str) -> String {
    let mut roots = rustls::RootCertStore::empty();
    roots
        .add(rustls::pki_types::CertificateDer::from_pem_file(state.join("ca.pem")).unwrap())
        .unwrap();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = rustls::ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(roots)
        .with_no_client_auth();
    let connection =
        rustls::ClientConnection::new(Arc::new(config), "127.0.0.1".try_into().unwrap()).unwrap();
    let tcp = TcpStream::connect(("127.0.0.1", sim.port)).unwrap();
    tcp.set_read_timeout(Some(RESPONSE_TIMEOUT)).unwrap();
    let mut stream = rustls::StreamOwned::new(connection, tcp);
    let length = body.len();
    write!(stream, "{head} HTTP/1.1\r\n{headers}\r\nConnection: close\r\nContent-Length: {length}\r\n\r\n{body}").unwrap();
    let mut response = Vec::new();
    // The server may close without close_notify.
    let _ = stream.read_to_end(&mut response);
    String::from_utf8_lossy(&response).into_owned()
}

/// Waits for a command with piped streams; fails after `timeout`.
pub(crate) fn wait(mut child: Child, timeout: Duration) -> Output {
    fn reader(mut from: impl Read + Send + 'static) -> std::thread::JoinHandle<Vec<u8>> {
        std::thread::spawn(move || {
            let mut bytes = Vec::new();
            let _ = from.read_to_end(&mut bytes);
            bytes
        })
    }
    let out = reader(child.stdout.take().unwrap());
    let err = reader(child.stderr.take().unwrap());
    let start = Instant::now();
    let status = loop {
        if let Some(status) = child.try_wait().unwrap() {
            break status;
        }
        if start.elapsed() > timeout {
            let _ = child.kill();
            let output = [out.join().unwrap(), err.join().unwrap()].concat();
            panic!("timed out: {}", text(&output));
        }
        std::thread::sleep(Duration::from_millis(20));
    };
    Output { status, stdout: out.join().unwrap(), stderr: err.join().unwrap() }
}

/// Returns the exit code (-1 for a signal), stdout and stderr.
pub(crate) fn result(output: &Output) -> (i32, String, String) {
    (output.status.code().unwrap_or(-1), text(&output.stdout), text(&output.stderr))
}

pub(crate) fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
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
